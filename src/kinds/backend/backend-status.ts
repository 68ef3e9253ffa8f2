import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from '../../managed/descriptor/common.ts'
import type { KindCondition } from '../../managed/descriptor/readiness.ts'
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
    weight: Type.Optional(integer({ description: 'Its share of the traffic; only with type Weighted.' })),
  },
  { description: 'A backend that receives the traffic.' },
)

/** Status fields of backends. */
export const backendStatus = {
  labels: Type.Optional(
    stringMap(text({ description: 'Value of the label.', maxLength: LABEL_VALUE }), {
      description: `Labels that a TunnelGroup has at the API; at most ${LABELS} are shown.`,
      maxProperties: LABELS,
    }),
  ),
  backends: Type.Optional(
    list(child, {
      description: `Backends that a Weighted Backend has at the API, sorted by id, or a Failover Backend, in its order; at most ${BACKENDS} are shown.`,
      maxItems: BACKENDS,
    }),
  ),
  tunnelCount: Type.Optional(
    integer({
      description:
        'How many tunnels of a TunnelGroup were online when the API was last read, which happens at least once per `resyncInterval` of the account, and when agents of a Tunnel come or go.',
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
    'True while tunnels with the labels of a TunnelGroup are online, False while none are, as of the last read of the API; `status.tunnelCount` has their number. Does not affect Ready. Absent for other types.',
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

/** The condition; none for a backend that is no group of tunnels. */
export function tunnelsOnlineOf({ tunnels }: RemoteObject, backendType: BackendType): readonly KindCondition[] {
  const online = onlineTunnels(tunnels, backendType)
  if (online === undefined) return []
  const { type } = tunnelsOnline
  if (online.length > 0) {
    return [{ type, status: 'True', reason: reasons.TunnelsOnline, message: 'tunnels with these labels are online' }]
  }
  const message =
    'no tunnel with these labels was online: an agent that binds all of them serves the group from then on'
  return [{ type, status: 'False', reason: reasons.NoTunnels, message }]
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
