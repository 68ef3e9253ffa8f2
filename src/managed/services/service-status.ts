import { isIP } from 'node:net'
import type { KubeObject } from '../../kube/types.ts'
import { generationOf, isDeleting, nameOf, shortName } from '../cr.ts'
import type { Condition } from '../descriptor/common.ts'
import type { ConditionText } from '../descriptor/readiness.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import { type Ingress, SERVICE_READY } from './service.ts'
import type { Problem } from './settings.ts'

/** How a reconcile of a Service ended. */
export type ServiceSaid =
  /** Everything is made; it is Ready once all parts are. */
  | { readonly type: 'kept'; readonly parts: readonly KubeObject[] }
  /** Something has to happen first. */
  | { readonly type: 'waiting'; readonly reason: Reason; readonly message: string }
  /** Lasts until a person changes something. */
  | { readonly type: 'stalled'; readonly reason: Reason; readonly message: string }

/** The most parts that a message names. */
const NAMED = 3

/** Refused: nothing is opened, and what was opened stays as it is. */
export function refusedBy(problems: readonly Problem[]): Exclude<ServiceSaid, { readonly type: 'kept' }> {
  return { type: 'stalled', reason: reasons.InvalidSpec, message: problems.join('; ') }
}

/** The condition of a Service. Pure. */
export function conditionOf(said: ServiceSaid): ConditionText {
  const is = (holds: boolean, reason: Reason, message: string): ConditionText => {
    return { type: SERVICE_READY, status: holds ? 'True' : 'False', reason, message }
  }
  if (said.type !== 'kept') return is(false, said.reason, said.message)
  const unready = said.parts.flatMap((part) => unreadinessOf(part) ?? [])
  if (unready.length === 0) return is(true, reasons.Available, 'every port is served')
  const words = unready.slice(0, NAMED)
  const more = unready.length > NAMED ? [`and ${unready.length - NAMED} more`] : []
  return is(false, reasons.Progressing, [...words, ...more].join('; '))
}

/**
 * Why a part does not serve the Service; undefined if it does. An Edge stays Ready while its edit waits or is refused:
 * it must be in sync with its current spec too.
 */
function unreadinessOf(part: KubeObject): string | undefined {
  const name = shortName(nameOf(part))
  const ready = conditionIn(part, 'Ready')
  if (ready?.status !== 'True') return `${name} is not Ready: ${ready?.message ?? RECONCILED}`
  if (part.kind !== 'Edge' || isSettled(part)) return undefined
  return `${name} is not Synced: ${currentOf(part)?.message ?? RECONCILED}`
}

const RECONCILED = 'it is being reconciled'

/**
 * Where a Service is reached, once each of its Edges is Ready: `hostports` as they are, whose ports need not be those
 * of the Service. A domain of one's own is reached where its CNAME record has to lead, as with any load balancer: so
 * ExternalDNS makes that record, which the certificate waits for. In a fixed order, and each host once. Pure.
 *
 * @param parts everything that the Service owns
 */
export function ingressOf(parts: readonly KubeObject[]): readonly Ingress[] {
  const targets = new Map(
    parts.flatMap((part) => {
      const { cnameTarget } = statusOf(part)
      const { domain } = (part.spec ?? {}) as { readonly domain?: string }
      return domain === undefined || cnameTarget === undefined ? [] : [[domain, cnameTarget] as const]
    }),
  )
  const places = parts
    .filter((part) => part.kind === 'Edge' && conditionIn(part, 'Ready')?.status === 'True' && !isDeleting(part))
    .flatMap((edge) => statusOf(edge).hostports ?? [])
    .map((hostport) => {
      const at = hostport.lastIndexOf(':')
      const host = hostport.slice(0, at).replace(/^\[|\]$/g, '')
      return { host: targets.get(host) ?? host, port: Number(hostport.slice(at + 1)) }
    })
    .filter(({ host, port }) => host !== '' && Number.isInteger(port) && port > 0)
  const byHost = Map.groupBy(places, ({ host }) => host)
  return [...byHost]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([host, at]) => ({
      ...(isIP(host) === 0 ? { hostname: host } : { ip: host, ipMode: 'Proxy' as const }),
      ports: [...new Set(at.map(({ port }) => port))]
        .sort((left, right) => left - right)
        .map((port) => ({ port, protocol: 'TCP' })),
    }))
}

/** Whether the object of a part is as its spec says. */
export function isSettled(part: KubeObject): boolean {
  return currentOf(part)?.status === 'True'
}

/** The condition Synced of a part; undefined before its current spec has been reconciled. */
export function currentOf(part: KubeObject): Condition | undefined {
  const synced = conditionIn(part, 'Synced')
  return synced?.observedGeneration === generationOf(part) ? synced : undefined
}

interface PartStatus {
  readonly cnameTarget?: string
  readonly hostports?: readonly string[]
  readonly conditions?: readonly Condition[]
}

function statusOf(part: KubeObject): PartStatus {
  return (part.status ?? {}) as PartStatus
}

function conditionIn(part: KubeObject, wanted: string): Condition | undefined {
  return statusOf(part).conditions?.find(({ type }) => type === wanted)
}
