import type { KubeObject } from '../../kube/types.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { type AuditQuery, auditedRequests } from '../cluster/audit-records.ts'
import { CommandError } from '../cluster/command-error.ts'
import { byTime, type CulvertEvent, culvertEvents } from '../cluster/events-about.ts'
import { leaderOf, type OperatorFlags, operatorNamespaceOf } from '../cluster/operator-lease.ts'

/** A connection to an edge, as the emulator has it. */
export interface ShownConnection {
  readonly at: string
  readonly source: string
  readonly host: string
  readonly verdict: string
  readonly rule: string | undefined
  readonly reason: string
}

/** The connections that were made to the object with this id, newest last. A real service does not show them. */
export type Connections = (edgeId: string) => readonly ShownConnection[]

/** What happened to an edge and to what it uses. */
export interface History {
  readonly events: readonly {
    readonly at: string
    readonly type: string
    readonly reason: string
    readonly object: string
    readonly note: string
    readonly isRequest: boolean
  }[]
  /** What could not be read, and why. */
  readonly unread: readonly string[]
  /** Undefined: connections cannot be seen. */
  readonly connections: readonly ShownConnection[] | undefined
}

/** Requests of this time are shown, in milliseconds: as long as most clusters keep Events. */
const SINCE_MS = 3_600_000
/** Logs may take this long, in milliseconds. */
const LOGS_MS = 5_000
/** Lines that are shown, of each. */
const MOST = 200

/** Reads Events and audit records about these resources, oldest first. */
export async function historyOf(
  cluster: Cluster,
  resources: readonly KubeObject[],
  { flags, connections }: { readonly flags: OperatorFlags; readonly connections: History['connections'] },
): Promise<History> {
  const names = new Set(resources.map(({ kind, metadata: { namespace, name } }) => nameText({ kind, namespace, name })))
  const namespaces = [...new Set(resources.flatMap(({ metadata: { namespace } }) => namespace ?? []))]
  const [events, requests] = await Promise.all([
    Promise.all(namespaces.map((namespace) => culvertEvents(cluster.kube, { namespace }))).catch(refusal),
    Promise.all(namespaces.map((namespace) => recorded(cluster, flags, namespace))),
  ])
  const unread = [
    ...(events instanceof CommandError ? [`Events: ${events.message}`] : []),
    ...(requests.includes(undefined)
      ? ["Audit records: the logs of the operator's Pods may not be read, or there are none"]
      : []),
  ]
  const all = [...(events instanceof CommandError ? [] : events.flat()), ...requests.flatMap((each) => each ?? [])]
  const about = all.filter(({ regarding }) => names.has(nameText(regarding))).sort(byTime)
  return { events: about.slice(-MOST).map(shown), unread, connections: connections?.slice(-MOST) }
}

function nameText({ kind, namespace, name }: CulvertEvent['regarding']): string {
  return `${kind} ${namespace ?? ''}/${name}`
}

function refusal(error: unknown): CommandError {
  if (error instanceof CommandError && error.code === 'Forbidden') return error
  throw error
}

async function recorded(
  { kube, clock }: Cluster,
  flags: OperatorFlags,
  namespace: string,
): Promise<readonly CulvertEvent[] | undefined> {
  const operator = operatorNamespaceOf(flags, await leaderOf(kube, clock, flags))
  const query: AuditQuery = { namespace, sinceMs: SINCE_MS, signal: AbortSignal.timeout(LOGS_MS) }
  return auditedRequests(kube, { namespace: operator, release: flags.release }, query)
}

function shown({ at, type, reason, note, regarding, request }: CulvertEvent): History['events'][number] {
  return { at, type, reason, note, object: `${regarding.kind}/${regarding.name}`, isRequest: request !== undefined }
}
