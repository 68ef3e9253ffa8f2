import { Command, Option } from 'commander'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { addressesOf } from './cluster/resource-state.ts'
import { dotOf, drawingOf, mermaidOf } from './graph/drawing.ts'
import { noneText, readAsked } from './tree/read-graph.ts'
import { branchesOf, branchesTo, type Node } from './tree/resource-graph.ts'
import { nodeState } from './tree/tree-lines.ts'

const FORMATS = { mermaid: mermaidOf, dot: dotOf } as const

/** Flags of `culvert graph`. */
export interface GraphFlags extends ClusterFlags {
  readonly reverse: boolean
  readonly allNamespaces: boolean
  readonly unhealthy?: boolean
  readonly output: keyof typeof FORMATS
}

/** `culvert graph`: draws what `culvert tree` shows. */
export function graphCommand(): Command {
  const output = new Option('-o, --output <format>', 'mermaid for Markdown, or dot for Graphviz')
  return clusterOptions(new Command('graph'))
    .description(
      'Draw everything that a resource refers to, transitively, with states and what each waits for; without a ' +
        'resource, everything in the namespace.',
    )
    .argument('[resource...]', 'KIND/NAME, or KIND NAME; a kind may be plural or a short name')
    .option('--reverse', 'draw what uses the resource instead, and would break without it', false)
    .option('-A, --all-namespaces', 'without a resource, or with --reverse: include all namespaces', false)
    .option('--unhealthy', 'draw only what is not healthy, and what leads to it')
    .addOption(output.choices(Object.keys(FORMATS)).default('mermaid'))
    .addHelpText(
      'after',
      '\nExamples:\n  culvert graph edge/shop\n  culvert graph --all-namespaces --unhealthy\n' +
        '  culvert graph ippolicy/office --reverse --output dot | dot -Tsvg > office.svg\n',
    )
    .action((args: readonly string[], flags: GraphFlags) =>
      askCluster(flags, (cluster) => runGraph(cluster, args, flags)),
    )
}

/** An object that no resource manages has no known state. */
function isUnhealthy(node: Node): boolean {
  const { style } = nodeState(node)
  return style !== 'green' && style !== 'dim'
}

/** @returns the exit code of the process */
export async function runGraph(cluster: Cluster, args: readonly string[], flags: GraphFlags): Promise<number> {
  const { kinds, out, err } = cluster
  const namespace = flags.allNamespaces ? undefined : cluster.namespace
  const { graph, roots } = await readAsked(cluster, args, { ...flags, command: 'graph' })
  const direction = flags.reverse ? 'usedBy' : 'needs'
  const all = branchesOf(graph, roots, direction)
  const trees = flags.unhealthy === true ? branchesTo(all, isUnhealthy) : all
  if (trees.length === 0) err.print(all.length === 0 ? noneText(namespace) : 'All of them are healthy.')
  const drawing = drawingOf(trees, direction, namespace, ({ resource }) => {
    return resource === undefined ? [] : addressesOf(kinds, resource)
  })
  out.write(`${FORMATS[flags.output](drawing)}\n`)
  return 0
}
