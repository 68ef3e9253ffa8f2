import { isIP } from 'node:net'
import type { KubeObject } from '../../kube/types.ts'
import type { Failed, OwnedPart, Result } from '../composed/composition.ts'
import { conditionIn, currentOf, isSettled } from '../composed/wanted.ts'
import { isDeleting, nameOf, shortName } from '../cr.ts'
import type { ConditionText } from '../descriptor/readiness.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import { type Ingress, SERVICE_READY } from './service.ts'
import type { Problem } from './settings.ts'

/** The most parts that a message names. */
const NAMED = 3

/** Refused: nothing is opened, and what was opened stays as it is. */
export function refusedBy(problems: readonly Problem[]): Failed {
  return { type: 'stalled', reason: reasons.InvalidSpec, message: problems.join('; ') }
}

/** The condition of a Service. Pure. */
export function conditionOf(said: Result): ConditionText {
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
function unreadinessOf({ role, stored: part }: OwnedPart): string | undefined {
  const name = shortName(nameOf(part))
  const ready = conditionIn(part, 'Ready')
  if (ready?.status !== 'True') return `${name} is not Ready: ${ready?.message ?? RECONCILED}`
  if (role !== 'entry' || isSettled(part)) return undefined
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
export function ingressOf(parts: readonly OwnedPart[]): readonly Ingress[] {
  const targets = new Map(
    parts.flatMap(({ stored }) => {
      const { cnameTarget } = statusOf(stored)
      const { domain } = (stored.spec ?? {}) as { readonly domain?: string }
      return domain === undefined || cnameTarget === undefined ? [] : [[domain, cnameTarget] as const]
    }),
  )
  const places = parts
    .filter(({ role, stored }) => {
      return role === 'entry' && conditionIn(stored, 'Ready')?.status === 'True' && !isDeleting(stored)
    })
    .flatMap(({ stored }) => statusOf(stored).hostports ?? [])
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

interface PartStatus {
  readonly cnameTarget?: string
  readonly hostports?: readonly string[]
}

function statusOf(part: KubeObject): PartStatus {
  return (part.status ?? {}) as PartStatus
}
