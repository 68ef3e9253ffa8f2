import type { KubeObject } from '../../kube/types.ts'
import { EVENT_SOURCE, events } from '../../runtime/events.ts'
import type { AuditRecord } from './audit-records.ts'
import { CommandError } from './command-error.ts'
import type { ExplainedClient } from './explained-client.ts'

/** An Event of Culvert's, as commands show it. */
export interface CulvertEvent {
  readonly type: string
  readonly reason: string
  readonly note: string
  readonly regarding: { readonly kind: string; readonly namespace: string | undefined; readonly name: string }
  /** When it happened, ISO 8601. */
  readonly at: string
  /** The request to the API that it tells of, as the operator's audit record has it. */
  readonly request?: AuditRecord
}

/** The parts of an events.k8s.io/v1 Event that are read. */
export interface RawEvent extends KubeObject {
  readonly type?: string
  readonly reason?: string
  readonly note?: string
  readonly eventTime?: string
  readonly reportingController?: string
  readonly regarding?: { readonly kind?: string; readonly namespace?: string; readonly name?: string }
}

/** Which Events to read. */
export interface EventQuery {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** Only those about this object. */
  readonly regarding?: { readonly kind: string; readonly name: string; readonly uid?: string }
  readonly signal?: AbortSignal
}

const PAGE = 500

/** Selects Culvert's own Events, for the API server: nothing else is sent. */
export function eventSelector({ regarding }: EventQuery): string {
  const { kind, name, uid } = regarding ?? {}
  const selected = {
    reportingController: EVENT_SOURCE,
    'regarding.kind': kind,
    'regarding.name': name,
    'regarding.uid': uid,
  }
  return Object.entries(selected)
    .flatMap(([field, value]) => (value === undefined ? [] : [`${field}=${value}`]))
    .join(',')
}

/** Culvert's own Events, oldest first. */
export async function culvertEvents(
  kube: Pick<ExplainedClient, 'list'>,
  query: EventQuery,
): Promise<readonly CulvertEvent[]> {
  const { namespace, signal } = query
  const fieldSelector = eventSelector(query)
  const found: RawEvent[] = []
  let next: string | undefined
  do {
    const page = await kube.list<RawEvent>(events, {
      namespace,
      fieldSelector,
      limit: PAGE,
      ...(next === undefined ? {} : { continue: next }),
      ...(signal === undefined ? {} : { signal }),
    })
    found.push(...page.items)
    next = page.continue
  } while (next !== undefined)
  return found.map(eventOf).sort(byTime)
}

/** Compares by time, oldest first. */
export function byTime(left: CulvertEvent, right: CulvertEvent): number {
  return left.at < right.at ? -1 : 1
}

/** An Event as commands show it. */
export function eventOf({ type = '', reason = '', note = '', eventTime, regarding, metadata }: RawEvent): CulvertEvent {
  return {
    type,
    reason,
    note,
    regarding: { kind: regarding?.kind ?? '', namespace: regarding?.namespace, name: regarding?.name ?? '' },
    at: eventTime ?? metadata.creationTimestamp ?? '',
  }
}

/** Like `culvertEvents`, for a command that can do without: none if they may not be read, or take longer than `ms`. */
export async function eventsIfQuick(
  kube: Pick<ExplainedClient, 'list'>,
  query: EventQuery,
  ms: number,
): Promise<readonly CulvertEvent[] | undefined> {
  const signal = AbortSignal.timeout(ms)
  try {
    return await culvertEvents(kube, { ...query, signal })
  } catch (error) {
    if (signal.aborted || (error instanceof CommandError && error.code === 'Forbidden')) return undefined
    throw error
  }
}
