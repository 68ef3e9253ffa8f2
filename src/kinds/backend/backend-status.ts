import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from '../../managed/descriptor/common.ts'
import type { KindCondition, ReadinessView } from '../../managed/descriptor/readiness.ts'
import { reasons } from '../../managed/descriptor/reasons.ts'
import { integer, list, object, stringMap, text } from '../../schema/define.ts'
import { cut } from '../../util/printable.ts'
import {
  compareTexts,
  given,
  ID_LENGTH,
  objectOf,
  refIds,
  shownIds,
  sorted,
  textMapOf,
  textsOf,
} from '../building-blocks/remote.ts'

/** Limits for what a status shows, since changes made outside Culvert may exceed those of a spec. */
const LABELS = 64
const LABEL_NAME = 255
const LABEL_VALUE = 1024
const TUNNELS = 256
const BACKENDS = 128

const child = object(
  {
    id: text({ description: 'Id of the backend.', maxLength: ID_LENGTH }),
    weight: Type.Optional(integer({ description: 'Weight of the backend; only with type Weighted.' })),
  },
  { description: 'A backend that receives the traffic.' },
)

/** Status fields of backends. */
export const backendStatus = {
  labels: Type.Optional(
    stringMap(text({ description: 'Value of the label.', maxLength: LABEL_VALUE }), {
      description: `Labels of a TunnelGroup, as returned by the API; at most ${LABELS} are shown.`,
      maxProperties: LABELS,
    }),
  ),
  backends: Type.Optional(
    list(child, {
      description: `Backends of a Weighted Backend, sorted by id, or of a Failover Backend, in its order, as returned by the API; at most ${BACKENDS} are shown.`,
      maxItems: BACKENDS,
    }),
  ),
  tunnelCount: Type.Optional(
    integer({
      description:
        'Number of tunnels of a TunnelGroup that were online when the API was last read, which happens at least once per `resyncInterval` of the account, and when agents of a Tunnel connect or disconnect.',
      minimum: 0,
    }),
  ),
  tunnels: Type.Optional(
    list(text({ description: 'Id of a tunnel.', maxLength: ID_LENGTH }), {
      description: `Ids of these tunnels, at most ${TUNNELS}.`,
      maxItems: TUNNELS,
    }),
  ),
}

/** Tunnels come and go with agents, so a group is Ready even without any. */
export const tunnelsOnline = {
  type: 'TunnelsOnline',
  description:
    'True while tunnels with the labels of a TunnelGroup are online, False while none are, as of the last read of the API; `status.tunnelCount` is their number. For Weighted and Failover: whether a backend that receives traffic can answer, absent while that is unknown. Does not affect Ready. Absent for HTTPResponse.',
  informational: true,
} as const

/** `spec.type`. Its schema needs this file. */
type BackendType = 'TunnelGroup' | 'HTTPResponse' | 'Weighted' | 'Failover'

/** Values of these fields. Fields that the object lacks because it is of another type are left out. */
export function shownBackend({ labels, backends, tunnels }: RemoteObject, type: BackendType | undefined): Fields {
  const online = onlineTunnels(tunnels, type)
  return given({
    labels: objectOf(labels) && shownLabels(textMapOf(labels)),
    backends: shownBackends(backends),
    tunnelCount: online?.length,
    tunnels: online && shownIds(online, TUNNELS),
  })
}

/** The condition; none for a fixed response, or while it is unknown. */
export function tunnelsOnlineOf(
  { backends, tunnels }: RemoteObject,
  backendType: BackendType,
  holderOf: HolderOf,
): readonly KindCondition[] {
  const { type } = tunnelsOnline
  const online = onlineTunnels(tunnels, backendType)
  if (online === undefined) return answerOfAny(childrenOf(backends), holderOf).map((answer) => ({ type, ...answer }))
  if (online.length > 0) return [{ type, ...ONLINE, message: 'tunnels with these labels are online' }]
  const message = 'no tunnel with these labels is online: start an agent that binds all of them'
  return [{ type, status: 'False', reason: reasons.NoTunnels, message }]
}

type HolderOf = ReadinessView<unknown>['holderOf']

/** Whether a backend can answer, and why. */
export type Answer = Omit<KindCondition, 'type'>

const ONLINE = { status: 'True', reason: reasons.TunnelsOnline } as const

/** Whether the backend with this id can answer; empty while that is unknown, such as of one that no resource manages. */
export function answerOf(id: string, holderOf: HolderOf): readonly Answer[] {
  const holder = holderOf?.(id)
  if ((holder?.spec as { readonly type?: BackendType } | undefined)?.type === 'HTTPResponse') {
    return [{ status: 'True', reason: reasons.Available, message: 'the backend sends a fixed response' }]
  }
  const condition = holder?.status.conditions?.find(({ type }) => type === tunnelsOnline.type)
  if (condition === undefined) return []
  if (condition.status === 'True') return [{ ...ONLINE, message: 'tunnels are online' }]
  return [condition.reason === reasons.NoWeight ? NO_WEIGHT : NO_TUNNELS]
}

const NO_TUNNELS: Answer = {
  status: 'False',
  reason: reasons.NoTunnels,
  message: 'no tunnel is online for any backend that receives traffic: start an agent',
}
const NO_WEIGHT: Answer = {
  status: 'False',
  reason: reasons.NoWeight,
  message: 'no backend has a weight above 0: set one in spec.weighted.backendRefs',
}

function answerOfAny(children: readonly string[] | undefined, holderOf: HolderOf): readonly Answer[] {
  if (children === undefined) return []
  if (children.length === 0) return [NO_WEIGHT]
  const answers = children.map((id) => answerOf(id, holderOf)[0])
  const good = answers.find((answer) => answer?.status === 'True')
  if (good !== undefined) return [{ ...ONLINE, message: 'a backend that receives traffic can answer' }]
  return answers.includes(undefined) ? [] : [NO_TUNNELS]
}

/** Ids of the backends that receive traffic; undefined for a backend without others. */
function childrenOf(backends: unknown): readonly string[] | undefined {
  if (Array.isArray(backends)) return textsOf(backends)
  const weights = objectOf(backends)
  return weights && Object.keys(weights).filter((id) => weights[id] !== 0)
}

/** Null, or nothing, where a group should have a list of tunnels is an empty one. */
function onlineTunnels(tunnels: unknown, type: BackendType | undefined): readonly string[] | undefined {
  return type === 'TunnelGroup' || Array.isArray(tunnels) ? sorted(refIds(tunnels)) : undefined
}

function shownLabels(labels: Readonly<Record<string, string>>): Fields {
  const named = Object.entries(labels).filter(([name]) => name.length <= LABEL_NAME && name.isWellFormed())
  const shown = named.sort(([left], [right]) => compareTexts(left, right)).slice(0, LABELS)
  return Object.fromEntries(shown.map(([name, value]) => [name, cut(value, LABEL_VALUE)]))
}

/** `backends` is a map of weights by id, or a list of ids in order. */
function shownBackends(backends: unknown): readonly Fields[] | undefined {
  if (Array.isArray(backends)) return shownIds(textsOf(backends), BACKENDS).map((id) => ({ id }))
  const weights = objectOf(backends)
  if (weights === undefined) return undefined
  return shownIds(sorted(Object.keys(weights)), BACKENDS).map((id) => {
    const weight = weights[id]
    return given({ id, weight: Number.isSafeInteger(weight) ? weight : undefined })
  })
}
