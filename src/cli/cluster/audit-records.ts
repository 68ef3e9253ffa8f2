import { pods } from '../../kube/streams.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { auditRecord } from '../../telemetry/audit.ts'
import { CommandError } from './command-error.ts'
import { byTime, type CulvertEvent, type EventQuery } from './events-about.ts'
import type { ExplainedClient } from './explained-client.ts'

/** A line of the operator's audit log (`telemetry.md § Audit records`). */
export type AuditRecord = ReturnType<typeof auditRecord>

/** Lines that are read of each replica, log and audit records together. */
const MOST_LINES = 20_000

/** Which records to read. */
export interface AuditQuery extends EventQuery {
  readonly sinceMs: number
}

/**
 * The requests that the operator has sent to the API, oldest first, from the logs of its Pods; undefined where the
 * caller may not read these, or no Pod is found.
 */
export async function auditedRequests(
  kube: Pick<ExplainedClient, 'list' | 'podLog'>,
  { namespace, release }: { readonly namespace: string; readonly release: string },
  query: AuditQuery,
): Promise<readonly CulvertEvent[] | undefined> {
  const { signal } = query
  const sinceSeconds = Math.ceil(query.sinceMs / 1000)
  try {
    const labelSelector = `app.kubernetes.io/component=operator,app.kubernetes.io/instance=${release}`
    const { items } = await kube.list<KubeObject>(pods, { namespace, labelSelector, ...(signal && { signal }) })
    if (items.length === 0) return undefined
    const logs = items.map(({ metadata }) => kube.podLog(metadata, { sinceSeconds, tailLines: MOST_LINES, signal }))
    return (await Promise.all(logs.map((log) => requestsIn(ofStarted(log), query)))).flat().sort(byTime)
  } catch (error) {
    if (signal?.aborted || (error instanceof CommandError && error.code === 'Forbidden')) return undefined
    throw error
  }
}

/** Without the refusal for a Pod that has not started yet, or is gone by now. */
async function* ofStarted(log: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* log
  } catch (error) {
    if (!(error instanceof CommandError && error.code === 'Refused')) throw error
  }
}

/** The audit records among these lines that a query asks for. */
export async function requestsIn(lines: AsyncIterable<string>, query: EventQuery): Promise<readonly CulvertEvent[]> {
  const found: CulvertEvent[] = []
  for await (const line of lines) {
    const record = recordIn(line)
    if (record !== undefined && isAskedFor(record, query)) found.push(eventOf(record))
  }
  return found
}

/** Whatever else a log holds is no record. */
function recordIn(line: string): AuditRecord | undefined {
  if (!line.startsWith('{"audit":true,')) return undefined
  try {
    return JSON.parse(line) as AuditRecord
  } catch {
    return undefined
  }
}

function isAskedFor({ resource }: AuditRecord, { namespace, regarding }: EventQuery): boolean {
  const isPlaced = namespace === undefined || resource?.namespace === namespace
  if (regarding === undefined) return isPlaced
  const { kind, name, uid } = regarding
  const isNamed = resource?.kind === kind && resource.name === name && (uid === undefined || resource.uid === uid)
  // Events about what has no namespace are in one; requests are not.
  return isNamed && (isPlaced || resource.namespace === undefined)
}

function eventOf(record: AuditRecord): CulvertEvent {
  const { method, collection, objectId, command, outcome, status, error, fields, reason, resource, time } = record
  const path = [collection, objectId, command].filter((part) => part !== undefined).join('/')
  const detail = error ?? status
  const what = fields === undefined ? '' : `: ${fields.join(', ')}`
  return {
    type: outcome === 'done' || outcome === 'absent' ? 'Normal' : 'Warning',
    reason: reason ?? '',
    note: `${method} ${path} ${outcome}${detail === undefined ? '' : ` (${detail})`}${what}`,
    regarding: { kind: resource?.kind ?? '', namespace: resource?.namespace, name: resource?.name ?? '' },
    at: time,
    request: record,
  }
}
