import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import type { Cluster, ClusterFlags } from '../cluster/ask-cluster.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import type { OutputFlags } from '../flags.ts'
import { spanText } from '../terminal/line.ts'
import { tableLines } from '../terminal/table.ts'

/** Flags of `culvert sessions list`. */
export interface SessionsFlags extends ClusterFlags, OutputFlags {
  readonly allNamespaces: boolean
  readonly selector?: string
}

/** @returns the exit code of the process */
export async function runSessions(cluster: Cluster, flags: SessionsFlags): Promise<number> {
  const { namespace, out } = cluster
  const scope = flags.allNamespaces ? undefined : namespace
  const found = await sessionsIn(cluster, scope, flags.selector)
  if (flags.output === 'json') {
    out.json(found.map(({ metadata, status }) => ({ namespace: metadata.namespace, name: metadata.name, ...status })))
    return 0
  }
  if (found.length > 0) for (const line of sessionLines(cluster, found, flags.allNamespaces)) out.print(line)
  else out.print(await noneText(cluster, scope))
  return 0
}

/** The sessions that accounts show in a namespace, or in all, with these labels. */
export async function sessionsIn(
  { kinds, kube }: Cluster,
  namespace: string | undefined,
  selector: string | undefined,
): Promise<readonly ShownSession[]> {
  const lists = kinds.mirrors.map((mirror) => {
    return kube.listSelected<ShownSession>(resourceTypeOf(mirror), namespace, selector)
  })
  return (await Promise.all(lists)).flat()
}

/** Why no session is shown: without an account that shows them, none can be seen. */
export async function noneText({ kinds, kube }: Cluster, scope: string | undefined): Promise<string> {
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

/** A TunnelSession, with the parts of its status that are read here. */
export interface ShownSession extends StatedResource {
  readonly status?: StatedResource['status'] & {
    readonly accountRef?: { readonly kind: string; readonly name: string }
    readonly id?: string
    readonly ip?: string
    readonly os?: string
    readonly region?: string
    readonly agentVersion?: string
    readonly startedAt?: string
  }
}

/** A table of sessions. */
export function sessionLines({ clock, out }: Cluster, sessions: readonly ShownSession[], showsNamespace: boolean) {
  const headings = ['IP', 'OS', 'REGION', 'VERSION', 'ONLINE FOR', 'ID'].map((heading) => ({ heading }))
  // A name is a digest, and its beginning is enough to name a session.
  const columns = [
    ...(showsNamespace ? [{ heading: 'NAMESPACE' }] : []),
    { heading: 'NAME', shrinksTo: 12 },
    ...headings,
  ]
  const rows = sessions.map(({ metadata, status }) => {
    const { id = '', ip = '', os = '', region = '', agentVersion = '', startedAt } = status ?? {}
    const online = startedAt === undefined ? '' : spanText(clock.now() - Date.parse(startedAt))
    const cells = [metadata.name, ip, os, region, agentVersion, online, id]
    return [...(showsNamespace ? [metadata.namespace ?? ''] : []), ...cells].map((text) => ({ text }))
  })
  return tableLines(columns, rows, out.tableWidth)
}
