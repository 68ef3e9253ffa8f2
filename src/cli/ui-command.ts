import { Command } from 'commander'
import { systemRandom } from '../util/random.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { type OperatorFlags, operatorOptions } from './cluster/operator-lease.ts'
import { stopSignal } from './exit.ts'
import { clusterViews } from './ui/cluster-views.ts'
import type { Connections } from './ui/history.ts'
import { LiveResources } from './ui/live-resources.ts'
import { servePage } from './ui/server.ts'

/** Flags of `culvert ui`. */
export interface UiFlags extends ClusterFlags, OperatorFlags {
  readonly allNamespaces: boolean
}

/** `culvert ui`: one page about edges, on this machine. */
export function uiCommand(): Command {
  return operatorOptions(clusterOptions(new Command('ui')))
    .description(
      'Serve one page about Edges on this machine until Ctrl-C, with your own permissions: which of them fail, where, and why. ' +
        'The page changes nothing, and only the browser that opens the printed link can read it.',
    )
    .option('-A, --all-namespaces', 'show the Edges of all namespaces', false)
    .addHelpText('after', '\nExamples:\n  culvert ui -n web\n  culvert ui --all-namespaces\n')
    .action((flags: UiFlags) => {
      const signal = stopSignal()
      return askCluster(flags, (cluster) => runUi(cluster, flags, signal))
    })
}

/** @returns the exit code of the process, once `signal` is aborted */
async function runUi(cluster: Cluster, flags: UiFlags, signal: AbortSignal): Promise<number> {
  const { out } = cluster
  await servedUntil(signal, cluster, { flags }, (link) => {
    out.print(['Open this link, which works once: ', { text: link, style: 'bold' }])
    out.print('Ctrl-C stops the page.')
  })
  return 0
}

/** Bytes of a token or cookie that nobody can guess. */
const SECRET_BYTES = 32

/** Serves the page until `signal` is aborted. `announce` is called with its link once it is served. */
export async function servedUntil(
  signal: AbortSignal,
  cluster: Cluster,
  { flags, connections }: { readonly flags: UiFlags; readonly connections?: Connections },
  announce: (link: string) => void,
): Promise<void> {
  const { allNamespaces } = flags
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  const opening = LiveResources.open(cluster, allNamespaces ? [] : [cluster.namespace], signal)
  const live = await Promise.race([opening, stopped])
  if (live === undefined || signal.aborted) return
  const title = allNamespaces ? 'all namespaces' : `namespace ${cluster.namespace}`
  const views = clusterViews(live, { flags, title, connections })
  await using server = await servePage(views, () => systemRandom.hex(SECRET_BYTES))
  announce(server.link)
  await stopped
}
