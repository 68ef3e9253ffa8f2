import { Command, Option } from 'commander'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { type Drawing, dotOf, drawingOf, mermaidOf, svgOf } from './graph/drawing.ts'
import { noneText, readAsked } from './tree/read-graph.ts'
import { branchesOf } from './tree/resource-graph.ts'

const FORMATS = ['mermaid', 'dot', 'svg'] as const

/** Flags of `culvert graph`. */
export interface GraphFlags extends ClusterFlags {
  readonly reverse: boolean
  readonly allNamespaces: boolean
  readonly output: (typeof FORMATS)[number]
}

/** `culvert graph`: draws what `culvert tree` shows. */
export function graphCommand(): Command {
  const output = new Option('-o, --output <format>', 'mermaid for Markdown, dot for Graphviz, or a finished image')
  return clusterOptions(new Command('graph'))
    .description(
      'Draw what a resource refers to, down to the last, each with its state and what it waits for; without a ' +
        'resource, everything in the namespace.',
    )
    .argument('[resource...]', 'KIND/NAME, or KIND NAME; a kind may be plural or a short name')
    .option('--reverse', 'draw what uses the resource instead, and so would break without it', false)
    .option('-A, --all-namespaces', 'without a resource, or with --reverse: look in all namespaces', false)
    .addOption(output.choices(FORMATS).default('mermaid'))
    .addHelpText(
      'after',
      '\nExamples:\n  culvert graph -n web\n  culvert graph edge/shop --output svg > shop.svg\n' +
        '  culvert graph ippolicy/office --reverse --output dot | dot -Tpng > office.png\n',
    )
    .action((args: readonly string[], flags: GraphFlags) =>
      askCluster(flags, (cluster) => runGraph(cluster, args, flags)),
    )
}

/** @returns the exit code of the process */
export async function runGraph(cluster: Cluster, args: readonly string[], flags: GraphFlags): Promise<number> {
  const { namespace, out, err } = cluster
  const { allNamespaces, output } = flags
  const { graph, roots } = await readAsked(cluster, args, { ...flags, command: 'graph' })
  const direction = flags.reverse ? 'usedBy' : 'needs'
  const trees = branchesOf(graph, roots, direction)
  if (trees.length === 0) err.print(noneText(allNamespaces ? undefined : namespace))
  out.write(`${await drawn(drawingOf(trees, direction, allNamespaces ? undefined : namespace), output)}\n`)
  return 0
}

async function drawn(drawing: Drawing, format: GraphFlags['output']): Promise<string> {
  switch (format) {
    case 'mermaid':
      return mermaidOf(drawing)
    case 'dot':
      return dotOf(drawing)
    case 'svg':
      return svgOf(drawing)
  }
}
