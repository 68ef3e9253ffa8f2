import { type Static, Type } from 'typebox'
import { integer, list, object, text } from '../../schema/define.ts'
import { fixedField } from '../../schema/rules.ts'
import { HOST_KEY_PATTERN } from '../../ssh/key-formats.ts'
import { CONFIRM_IDENTITY_REQUESTED_AT, RECONCILE_REQUESTED_AT } from '../names.ts'
import type { AccessEntry } from './access.ts'
import { conditions, dataKey, objectName, observedGeneration } from './common.ts'
import { durationText } from './duration.ts'
import { INTERNAL_DESCRIPTION } from './internal.ts'
import { answerTo } from './text-schemas.ts'

/** Defaults for fields that an Account's spec leaves out. The CRD sets the same values. */
export const accountDefaults = {
  apiKeySecretKey: 'apiKey',
  versionHeader: 'Service-Version',
  resyncInterval: '10m',
  /** Requests that may be sent at once after a pause, if `rateLimit` has no `burst`. */
  burst: 10,
} as const

const resyncInterval = durationText({
  field: 'resyncInterval',
  description:
    'How often the account is listed to find changes made outside Culvert, such as `30s`, `10m` or `1h30m`; from 1s to 24h. Default: 10m.',
  least: '1s',
  most: '24h',
  examples: '30s, 10m or 1h30m',
  default: accountDefaults.resyncInterval,
})

const apiKeySecretRef = (where: string) =>
  object(
    {
      name: objectName(`Name of the Secret in ${where}.`),
      key: Type.Optional(dataKey('Key in the Secret. Default: apiKey.', { default: accountDefaults.apiKeySecretKey })),
    },
    { description: `The Secret with the API key, in ${where}. A new key there is used as soon as Culvert notices it.` },
  )

const rateLimit = object(
  {
    requestsPerMinute: integer({
      description:
        'Maximum requests per minute that Culvert sends for this account, for all resources together; 1 to 60000. Accounts with the same address and key share one budget: the lowest of their limits applies to them together.',
      minimum: 1,
      maximum: 60_000,
    }),
    burst: Type.Optional(
      integer({
        description: 'Requests that may be sent at once after a pause, 1 to 1000. Default: 10.',
        minimum: 1,
        maximum: 1000,
        default: accountDefaults.burst,
      }),
    ),
  },
  {
    description:
      'Limits how many requests Culvert sends for the account. Default: no limit; Culvert slows down only when the API answers 429.',
  },
)

const sshGateway = object(
  {
    address: text({
      description: 'Address of the gateway, `host:port`. At most 255 characters.',
      maxLength: 255,
      mustBe:
        'HOST:PORT, such as ssh.example.com:22: write other letters in their ASCII form, such as xn--bcher-kva.example for bücher.example',
      pattern: '^([A-Za-z0-9.-]+|\\[[0-9a-fA-F:.]+\\]):[1-9][0-9]{0,4}$',
    }),
    hostKeys: list(
      text({
        description: 'A public key, `ssh-ed25519 AAAA…`, or a line of `ssh-keyscan`. Host and comment are ignored.',
        maxLength: 1024,
        mustBe:
          'a public key such as "ssh-ed25519 AAAA…", of type ssh-ed25519, ecdsa-sha2-nistp… or ssh-rsa: take it from a .pub file or from ssh-keyscan',
        pattern: HOST_KEY_PATTERN,
      }),
      {
        description:
          'The host keys of the gateway, 1 to 4: it must have one of them, or no agent connects. To change it, add the new one first.',
        minItems: 1,
        maxItems: 4,
      },
    ),
  },
  {
    description:
      'The SSH gateway of the service, to which the agents of Tunnels connect. Required for Tunnels. Default: none.',
  },
)

/** Headers that every request has, so the version header cannot have their names. */
const RESERVED_HEADERS = "['authorization', 'connection', 'content-length', 'content-type', 'cookie', 'host']"

/** Spec fields of both kinds of account. `secretPlace` says where the Secret with the key is. */
export function accountSpecFields(secretPlace: string) {
  return {
    baseURL: text({
      description:
        'Address of the API, such as `https://api.example.com`, optionally with a path. The administrator of Culvert must allow its host; plain http works only where they allow that too. At most 2048 characters. Immutable: another address is another account.',
      minLength: 1,
      maxLength: 2048,
      mustBe: 'an https URL without query and fragment, such as https://api.example.com',
      pattern: '^https?://[^/?#]+(/[^?#]*)?$',
    }),
    apiKeySecretRef: apiKeySecretRef(secretPlace),
    caBundle: Type.Optional(
      text({
        description:
          'PEM certificates of the only authorities that Culvert trusts for this API; at most 64000 characters. Default: the public ones, and those that the administrator of Culvert adds.',
        maxLength: 64_000,
        rules: [
          {
            rule: "self.contains('-----BEGIN CERTIFICATE-----')",
            message:
              'caBundle holds no certificate: set one or more in PEM, each beginning with -----BEGIN CERTIFICATE-----',
          },
        ],
      }),
    ),
    versionHeader: Type.Optional(
      text({
        description: 'Name of the request header that selects version 2 of the API. Default: Service-Version.',
        minLength: 1,
        maxLength: 64,
        mustBe: 'the name of a header: letters, digits and -',
        pattern: '^[A-Za-z0-9-]+$',
        default: accountDefaults.versionHeader,
        rules: [
          {
            rule: `!(self.lowerAscii() in ${RESERVED_HEADERS})`,
            message:
              'versionHeader names a header that has another meaning in requests: name another, such as Service-Version',
          },
        ],
      }),
    ),
    rateLimit: Type.Optional(rateLimit),
    sshGateway: Type.Optional(sshGateway),
    resyncInterval: Type.Optional(resyncInterval),
  }
}

export const accountSpecRules = [fixedField('baseURL')]

const orphan = object(
  {
    collection: text({ description: 'Collection of the object, such as `backends/weighted`.', maxLength: 64 }),
    id: text({ description: 'Id of the object.', maxLength: 255 }),
    kind: text({ description: 'Kind of the resource it was created for.', maxLength: 63 }),
    namespace: text({ description: 'Namespace of that resource.', maxLength: 63 }),
    name: text({ description: 'Name of that resource.', maxLength: 253 }),
  },
  { description: 'An object that Culvert created for a resource that no longer exists.' },
)

const claim = object(
  {
    operator: text({ description: 'Namespace and name of the operator, `namespace/name`.', maxLength: 317 }),
    term: text({ description: 'Identifies the time for which its leader has led.', maxLength: 64 }),
  },
  {
    description:
      'The operator that works on this account and its resources, where several operators divide accounts between them.',
  },
)

/** How many orphans the status lists; `orphanCount` counts all. */
export const ORPHANS_SHOWN = 20

/** Status fields of both kinds of account. */
export const accountStatusFields = {
  observedGeneration,
  conditions: Type.Optional(conditions),
  internal: Type.Optional(
    object(
      {
        keyFingerprint: Type.Optional(
          text({ description: 'Changes when the API key or `spec.baseURL` changes.', maxLength: 64 }),
        ),
        doubtedUID: Type.Optional(
          text({
            description:
              'UID under which this resource was reported as IdentityUnproven, until its identity is proven or confirmed.',
            maxLength: 64,
          }),
        ),
        claim: Type.Optional(claim),
      },
      { description: INTERNAL_DESCRIPTION },
    ),
  ),
  lastHandledConfirmIdentityAt: answerTo(
    CONFIRM_IDENTITY_REQUESTED_AT,
    'acted on, or was already there when the identity came into doubt',
  ),
  orphanCount: Type.Optional(
    integer({
      description:
        'Number of objects that Culvert created for resources that no longer exist. They are only reported: delete them at the API if you do not need them.',
      minimum: 0,
    }),
  ),
  orphans: Type.Optional(
    list(orphan, { description: `The first ${ORPHANS_SHOWN} of these objects.`, maxItems: ORPHANS_SHOWN }),
  ),
  lastHandledReconcileAt: answerTo(RECONCILE_REQUESTED_AT, 'acted on'),
}

const commonAccountSpec = object(accountSpecFields('its namespace'), { description: 'An account.' })
const commonAccountStatus = object(accountStatusFields, { description: 'State of an account.' })
/** The part of the spec of either kind of account that the reconciler reads. */
export type AccountSpec = Static<typeof commonAccountSpec> & {
  /** ClusterAccount only. Absent or empty: nobody may use the account. */
  readonly access?: readonly AccessEntry[]
  /** `namespace`: ClusterAccount only, where it is required. */
  readonly mirrorSessions?: {
    readonly enabled: boolean
    readonly interval?: string
    readonly maxSessions?: number
    readonly namespace?: string
  }
}

/** The status of either kind of account, as the reconciler writes it. */
export type AccountStatus = Static<typeof commonAccountStatus>
