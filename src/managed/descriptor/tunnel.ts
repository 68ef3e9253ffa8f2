import { type Static, Type } from 'typebox'
import { integer, object, text, timestamp } from '../../schema/define.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import { atMostOne, type Rule } from '../../schema/rules.ts'
import { ROTATE_REQUESTED_AT } from '../names.ts'
import type { Reach } from './access.ts'
import {
  accountInUse,
  type CommonSpec,
  conditionsList,
  objectName,
  observedGeneration,
  secretKeyRef,
} from './common.ts'
import { durationText } from './duration.ts'
import { INTERNAL_DESCRIPTION } from './internal.ts'
import { foreignAgent } from './pod/agent.ts'
import { podTemplate } from './pod/template.ts'
import { answerTo } from './text-schemas.ts'

/** Number of agents of a Tunnel without `replicas`. */
export const DEFAULT_REPLICAS = 2

export const tunnelSpecFields = {
  backendRef: object(
    { name: objectName('Name of the Backend in the same namespace.') },
    {
      description:
        'The Backend whose traffic the tunnel forwards. It must be of type TunnelGroup and have at least one label; the tunnel has exactly its labels.',
    },
  ),
  service: object(
    {
      name: text({
        description: 'Name of the Service in the same namespace.',
        maxLength: 63,
        mustBe: 'the name of a Service: lower-case letters, digits and -, beginning with a letter',
        pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
      }),
      port: integer({ description: 'Port of the Service, 1 to 65535.', minimum: 1, maximum: 65_535 }),
    },
    { description: 'The Service that connections are forwarded to. Its name is resolved for each connection.' },
  ),
  replicas: Type.Optional(
    integer({
      description:
        'Number of agents, each with its own session, 1 to 32. Can also be set through the scale subresource.',
      minimum: 1,
      maximum: 32,
      default: DEFAULT_REPLICAS,
    }),
  ),
  credentialRef: Type.Optional(
    object(
      {
        name: objectName('Name of the SSHCredential in the same namespace.'),
        privateKeySecretRef: secretKeyRef(
          'The private key of that credential, in OpenSSH or PEM format, without a passphrase. After a change, agents use the new key when they reconnect.',
        ),
      },
      {
        description:
          'An existing SSHCredential to use. Its ACL must permit the labels of the Backend. Default: Culvert creates a key and an SSHCredential that permits exactly these labels.',
      },
    ),
  ),
  keyRotation: Type.Optional(
    object(
      {
        interval: durationText({
          field: 'interval',
          description: 'Maximum age of a key or token, such as `720h`; from 1h to 8760h.',
          least: '1h',
          most: '8760h',
          examples: '24h, 720h or 2160h',
        }),
      },
      {
        description:
          'When Culvert replaces the key or token it created. All agents use the new one before the former one is deleted. Default: only on request.',
      },
    ),
  ),
  template: Type.Optional(podTemplate),
  agent: Type.Optional(foreignAgent),
}

export const tunnelSpecRules: readonly Rule[] = [atMostOne(['agent', 'credentialRef'])]

/** Owned objects are named after their Tunnel, and label values have at most 63 characters. */
export const LONGEST_TUNNEL_NAME = 40

/** What is wrong with the name of a Tunnel, and what to do. */
export const TUNNEL_NAME_PROBLEM = `metadata.name must have at most ${LONGEST_TUNNEL_NAME} characters and no dot: choose another name`

/** Tunnels that an operator has already reconciled: created before the API server validated their names. */
const SEEN = 'has(self.status) && has(self.status.observedGeneration) && self.status.observedGeneration > 0'

export const tunnelRootRules: readonly Rule[] = [
  {
    rule: `(self.metadata.name.size() <= ${LONGEST_TUNNEL_NAME} && !self.metadata.name.contains('.')) || (${SEEN})`,
    message: TUNNEL_NAME_PROBLEM,
  },
]

/** What agents authenticate with: a private key at the SSH gateway, or a token in the service's own protocol. */
export type CredentialForm = 'key' | 'token'

const revision = (form: CredentialForm) =>
  integer({ description: `Number of the ${form}, incremented with each new one.`, minimum: 1 })

const current = (form: CredentialForm, name: string) =>
  Type.Optional(
    object(
      {
        revision: revision(form),
        name: text({ description: name, maxLength: 253 }),
        issuedAt: Type.Optional(timestamp({ description: `When the ${form} was created.` })),
      },
      { description: `The ${form} that new agents use, if Culvert created it.` },
    ),
  )

const former = (form: CredentialForm) =>
  Type.Optional(
    object(
      {
        revision: revision(form),
        retireAt: Type.Optional(
          timestamp({
            description: 'When it will be deleted, some time after the last agent stopped using it for new sessions.',
          }),
        ),
      },
      { description: `The former ${form}, while agents may still use it.` },
    ),
  )

export const tunnelStatusFields = {
  observedGeneration,
  accountRef: Type.Optional(accountInUse('The account in use, which is the account of the Backend.')),
  wanted: Type.Optional(integer({ description: 'Desired number of agents.', minimum: 0 })),
  replicas: Type.Optional(integer({ description: 'Number of agent Pods, connected or not.', minimum: 0 })),
  selector: Type.Optional(
    text({
      description: 'Label selector of the agent Pods in serialized form, for the scale subresource.',
      maxLength: 128,
    }),
  ),
  online: Type.Optional(
    integer({
      description: 'Number of agents that are connected to the gateway and have bound the labels.',
      minimum: 0,
    }),
  ),
  key: current('key', 'Name of the Secret with the key, and of its SSHCredential.'),
  formerKey: former('key'),
  token: current('token', 'Name of the TunnelCredential, and of the Secret with its token.'),
  formerToken: former('token'),
  lastHandledRotateAt: answerTo(ROTATE_REQUESTED_AT, 'acted on'),
  internal: Type.Optional(
    object(
      {
        template: Type.Optional(
          text({
            description: "Digest of the Deployment's Pod template, as returned by the API server after the last write.",
            maxLength: 64,
          }),
        ),
      },
      { description: INTERNAL_DESCRIPTION },
    ),
  ),
  conditions: Type.Optional(
    conditionsList(
      'Ready: at least one agent is connected. Synced: the Deployment, the key or token, and the credential match the spec. Connected: every agent is connected. Reconciling: work is in progress. Stalled: Culvert makes no progress until someone intervenes. Reconciling and Stalled are present only while true (kstatus).',
    ),
  ),
}

const spec = object(tunnelSpecFields, { description: 'A tunnel.' })
const status = object(tunnelStatusFields, { description: 'State of a tunnel.' })

export type TunnelSpec = Static<typeof spec>
export type TunnelStatus = Static<typeof status>

/** A kind whose CRs consist of other Kubernetes objects, which they own. They have no remote object themselves. */
export interface ComposedDescriptor {
  readonly role: 'composed'
  readonly definition: KindDefinition
  readonly reach: Reach
  /** The kind that `backendRef` names. */
  readonly backend: string
  /** The kinds of the credentials that Culvert creates for it. `credentialRef` refers to the kind for keys. */
  readonly credentials: Readonly<Record<CredentialForm, string>>
  /** The labels by which a Backend with that spec selects tunnels; undefined if it selects none. */
  labelsOf(backend: CommonSpec): Readonly<Record<string, string>> | undefined
}
