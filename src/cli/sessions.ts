import { Command } from 'commander'
import { resourceTypeOf } from '../managed/kinds-registry.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { type OutputFlags, outputOption } from './cluster/output.ts'
import type { StatedResource } from './cluster/resource-state.ts'
import { spanText } from './terminal/age.ts'
import { tableLines } from './terminal/table.ts'

/** Flags of `culvert sessions list`. */
export interface SessionsFlags extends ClusterFlags, OutputFlags {
  readonly allNamespaces: boolean
  readonly selector?: string
}

/** `culvert sessions`: agents that are connected. */
export function sessionsCommand(): Command {
  const list = outputOption(clusterOptions(new Command('list')))
    .description('List the online tunnel sessions that accounts with mirrorSessions show as TunnelSessions.')
    .option('-A, --all-namespaces', 'list the sessions of all namespaces', false)
    .option('-l, --selector <labels>', 'only those with these labels, such as culvert.dev/os=linux')
    .addHelpText(
      'after',
      '\nExamples:\n  culvert sessions list -n web\n  culvert sessions list -l culvert.dev/os=linux\n',
    )
    .action((flags: SessionsFlags) => askCluster(flags, (cluster) => runSessions(cluster, flags)))
  return new Command('sessions')
    .description(
      'Tunnel sessions: agents that are connected. To restart, stop or update them, create a TunnelSessionCommand.',
    )
    .addCommand(list)
}

/** @returns the exit code of the process */
export async function runSessions(cluster: Cluster, flags: SessionsFlags): Promise<number> {
  const { kinds, kube, namespace, out } = cluster
  const scope = flags.allNamespaces ? undefined : namespace
  const sessions = await Promise.all(
    kinds.mirrors.map((mirror) => kube.listSelected<StatedResource>(resourceTypeOf(mirror), scope, flags.selector)),
  )
  const found = sessions.flat()
  if (flags.output === 'json') {
    out.print(
      JSON.stringify(
        found.map(({ metadata, status }) => ({ namespace: metadata.namespace, name: metadata.name, ...status })),
        null,
        2,
      ),
    )
    return 0
  }
  if (found.length > 0) for (const line of linesOf(cluster, found, flags)) out.print(line)
  else out.print(await noneText(cluster, scope))
  return 0
}

/** Without an account that shows them, none can be seen. */
async function noneText({ kinds, kube }: Cluster, scope: string | undefined): Promise<string> {
  const lists = kinds.accounts.map((account) => {
    return kube.listAll<StatedResource>(resourceTypeOf(account), scope === undefined ? [] : [scope])
  })
  const accounts = (await Promise.all(lists)).flat()
  const isShown = accounts.some(({ spec }) => (spec as ShowingSpec | undefined)?.mirrorSessions?.enabled === true)
  return isShown
    ? 'No session is online.'
    : 'No account shows its sessions: set spec.mirrorSessions.enabled of an Account or ClusterAccount.'
}

interface ShowingSpec {
  readonly mirrorSessions?: { readonly enabled?: boolean }
}

/** The parts of a TunnelSession's status that are shown. */
interface SessionStatus {
  readonly id?: string
  readonly ip?: string
  readonly os?: string
  readonly region?: string
  readonly agentVersion?: string
  readonly startedAt?: string
}

function linesOf(
  { clock, out }: Cluster,
  sessions: readonly StatedResource[],
  flags: SessionsFlags,
): readonly string[] {
  const headings = ['NAME', 'IP', 'OS', 'REGION', 'VERSION', 'ONLINE FOR', 'ID']
  const columns = [...(flags.allNamespaces ? ['NAMESPACE'] : []), ...headings].map((heading) => ({ heading }))
  const rows = sessions.map(({ metadata, status }) => {
    const { id = '', ip = '', os = '', region = '', agentVersion = '', startedAt } = (status ?? {}) as SessionStatus
    const online = startedAt === undefined ? '' : spanText(clock.now() - Date.parse(startedAt))
    const cells = [metadata.name, ip, os, region, agentVersion, online, id]
    return [...(flags.allNamespaces ? [metadata.namespace ?? ''] : []), ...cells].map((text) => ({ text }))
  })
  return tableLines(columns, rows, out.width)
}
