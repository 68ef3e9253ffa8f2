import { type Static, Type } from 'typebox'
import type { Collection, RemoteObject } from '../../api/types.ts'
import { bool, integer, object } from '../../schema/define.ts'
import { experimental, type KindDefinition } from '../../schema/definition.ts'
import type { AccountSpec } from './account.ts'
import type { Fields } from './common.ts'
import { durationText } from './duration.ts'
import { namespaceName } from './text-schemas.ts'

/** Defaults for fields that the account's spec leaves out. The CRD sets the same interval. */
export const mirrorDefaults = { interval: '1m', maxSessions: 5000 } as const

/** Each is an object of a few kilobytes in etcd. */
const MOST_SESSIONS = 20_000

const interval = durationText({
  field: 'interval',
  description:
    'How often the sessions are listed, all pages, such as `30s`, `10m` or `1h30m`; from 1s to 24h. Each page counts against the rate limit. Default: 1m.',
  least: '1s',
  most: '24h',
  examples: '30s, 10m or 1h30m',
  default: mirrorDefaults.interval,
})

const maxSessions = integer({
  description: `Maximum number of sessions shown, 1 to ${MOST_SESSIONS}. If more are online, those already shown stay, and places that become free go to the lowest ids; the condition SessionsMirrored reports this. Default: 5000.`,
  minimum: 1,
  maximum: MOST_SESSIONS,
})

const enabled = bool({
  description: 'Whether online tunnel sessions are shown as resources of the kind TunnelSession.',
})

const DESCRIPTION = experimental(
  'Shows the online tunnel sessions of the account as read-only resources. They are removed when this is switched off. Default: off.',
)

/** `mirrorSessions` of an account whose mirrors are in its own namespace. */
export const mirrorHere = object(
  { enabled, interval: Type.Optional(interval), maxSessions: Type.Optional(maxSessions) },
  { description: DESCRIPTION },
)

/** `mirrorSessions` of an account that several namespaces share: the spec must name a namespace. */
export const mirrorElsewhere = object(
  {
    enabled,
    interval: Type.Optional(interval),
    maxSessions: Type.Optional(maxSessions),
    namespace: namespaceName('The namespace for the TunnelSessions. It must exist.'),
  },
  { description: DESCRIPTION },
)

/** The condition of accounts that reports listed objects that are not shown. */
export const shownCondition = {
  type: 'SessionsMirrored',
  description:
    'False while not all online tunnel sessions of the account are shown, although `mirrorSessions` is enabled; absent otherwise. TooManySessions: more are online than `mirrorSessions.maxSessions`. TooManyMirrors: the namespace already shows the sessions of the maximum number of other accounts.',
} as const

/** Whether and how an account's objects of one collection are mirrored. */
export type MirrorSettings = Static<typeof mirrorHere> & Partial<Pick<Static<typeof mirrorElsewhere>, 'namespace'>>

/** A kind whose CRs show what a collection lists; only Culvert creates, changes and deletes them. All of it is pure. */
export interface MirrorDescriptor {
  readonly role: 'mirror'
  readonly definition: KindDefinition
  readonly collection: Collection
  /** Prefix of the names of its CRs; a digest of the id follows, since ids are not valid names. */
  readonly namePrefix: string
  /** The account's settings for it; undefined means off, like not enabled. */
  settings(spec: AccountSpec): MirrorSettings | undefined
  /** Labels by key, with valid values; undefined if the object has no value for one. The keys are always the same. */
  labels(remote: RemoteObject): Readonly<Record<string, string | undefined>>
  /** The status, except for the account. Fields without a value are left out or undefined. */
  status(remote: RemoteObject): Fields
}
