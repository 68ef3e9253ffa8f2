import { Command } from 'commander'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { type OutputFlags, outputOption } from './flags.ts'
import { noneText, readAsked } from './tree/read-graph.ts'
import { type Branch, branchesOf } from './tree/resource-graph.ts'
import { nodeState, treeLines } from './tree/tree-lines.ts'

/** Flags of `culvert tree`. */
export interface TreeFlags extends ClusterFlags, OutputFlags {
  readonly reverse: boolean
  readonly allNamespaces: boolean
}

/** `culvert tree`: what a resource needs, or what needs it, each with its state. */
export function treeCommand(): Command {
  return outputOption(clusterOptions(new Command('tree')))
    .description(
      'Show what a resource refers to, down to the last, each with its state and what it waits for; without a ' +
        'resource, everything in the namespace.',
    )
    .argument('[resource...]', 'KIND/NAME, or KIND NAME; a kind may be plural or a short name')
    .option('--reverse', 'show what uses the resource instead, and so would break without it', false)
    .option('-A, --all-namespaces', 'without a resource, or with --reverse: look in all namespaces', false)
    .addHelpText(
      'after',
      '\nExamples:\n  culvert tree -n web\n  culvert tree edge/shop\n  culvert tree ippolicy/office --reverse\n' +
        '  culvert tree clusteraccount/default --reverse --all-namespaces\n',
    )
    .action((args: readonly string[], flags: TreeFlags) =>
      askCluster(flags, (cluster) => runTree(cluster, args, flags)),
    )
}

/** @returns the exit code of the process */
export async function runTree(cluster: Cluster, args: readonly string[], flags: TreeFlags): Promise<number> {
  const { graph, roots } = await readAsked(cluster, args, { ...flags, command: 'tree' })
  print(cluster, branchesOf(graph, roots, flags.reverse ? 'usedBy' : 'needs'), flags)
  return 0
}

function print({ namespace, out }: Cluster, trees: readonly Branch[], { allNamespaces, output }: TreeFlags): void {
  if (output === 'json') {
    out.json(trees.map(jsonOf))
    return
  }
  const shown = allNamespaces ? undefined : namespace
  if (trees.length === 0) out.print(noneText(shown))
  for (const line of treeLines(trees, out, shown)) out.print(line)
}

/** A tree for programs: docs/cli/tree.md. */
function jsonOf({ node, by, repeated, branches }: Branch): unknown {
  const { kind, namespace, name, id, resource } = node
  const { word: state, message } = nodeState(node)
  const exists = name === undefined ? undefined : resource !== undefined
  return { kind, namespace, name, id, field: by, exists, state, message, repeated, branches: branches.map(jsonOf) }
}
