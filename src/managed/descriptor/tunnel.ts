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

/** Agents of a Tunnel whose spec does not say how many. */
export const DEFAULT_REPLICAS = 2

export const tunnelSpecFields = {
  backendRef: object(
    { name: objectName('Name of the Backend in the same namespace.') },
    {
      description:
        'The Backend of type TunnelGroup whose traffic the tunnel carries: the tunnel has exactly its labels, of which there must be at least one.',
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
    { description: 'Where connections go. The name is resolved anew for each of them.' },
  ),
  replicas: Type.Optional(
    integer({
      description: 'Number of agents, each with a session of its own, 1 to 32. The subresource scale sets it too.',
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
          'The private key of that credential, in OpenSSH or PEM format and without a passphrase. A change there is used by agents that connect again.',
        ),
      },
      {
        description:
          'An existing SSHCredential to use. Its ACL must permit the labels of the Backend. Default: Culvert makes a key and an SSHCredential that permits exactly these labels.',
      },
    ),
  ),
  keyRotation: Type.Optional(
    object(
      {
        interval: durationText({
          field: 'interval',
          description: 'How old a key or token becomes before it is replaced, such as `720h`; from 1h to 8760h.',
          least: '1h',
          most: '8760h',
          examples: '24h, 720h or 2160h',
        }),
      },
      {
        description:
          'When the key or token that Culvert made is replaced. The new one is in use by all agents before the former is deleted. Default: only on request.',
      },
    ),
  ),
  template: Type.Optional(podTemplate),
  agent: Type.Optional(foreignAgent),
}

export const tunnelSpecRules: readonly Rule[] = [atMostOne(['agent', 'credentialRef'])]

/** What a Tunnel owns is named after it, and label values take 63 characters. */
export const LONGEST_TUNNEL_NAME = 40

/** What is wrong with the name of a Tunnel, and what to do. */
export const TUNNEL_NAME_PROBLEM = `metadata.name takes at most ${LONGEST_TUNNEL_NAME} characters and no dot: give the Tunnel another name`

/** Those that an operator has seen were created before the API server checked their names. */
const SEEN = 'has(self.status) && has(self.status.observedGeneration) && self.status.observedGeneration > 0'

export const tunnelRootRules: readonly Rule[] = [
  {
    rule: `(self.metadata.name.size() <= ${LONGEST_TUNNEL_NAME} && !self.metadata.name.contains('.')) || (${SEEN})`,
    message: TUNNEL_NAME_PROBLEM,
  },
]

/** What agents connect with: the private half of a key at the SSH gateway, or a token by the service's own protocol. */
export type CredentialForm = 'key' | 'token'

const revision = (form: CredentialForm) =>
  integer({ description: `Number of the ${form}; the next one has the next number.`, minimum: 1 })

const current = (form: CredentialForm, name: string) =>
  Type.Optional(
    object(
      {
        revision: revision(form),
        name: text({ description: name, maxLength: 253 }),
        issuedAt: Type.Optional(timestamp({ description: `When the ${form} was made.` })),
      },
      { description: `The ${form} that new agents use, if Culvert made it.` },
    ),
  )

const former = (form: CredentialForm) =>
  Type.Optional(
    object(
      {
        revision: revision(form),
        retireAt: Type.Optional(
          timestamp({ description: 'When it is deleted: no agent has used it for new sessions for a while then.' }),
        ),
      },
      { description: `The ${form} before, while agents may use it.` },
    ),
  )

export const tunnelStatusFields = {
  observedGeneration,
  accountRef: Type.Optional(accountInUse('The account in use: that of the Backend.')),
  wanted: Type.Optional(integer({ description: 'Number of agents that there should be.', minimum: 0 })),
  replicas: Type.Optional(integer({ description: 'Number of Pods with agents, connected or not.', minimum: 0 })),
  selector: Type.Optional(
    text({ description: 'Label selector of these Pods, as text; for the subresource scale.', maxLength: 128 }),
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
            description: 'Digest of the Pod template of the Deployment, as the API server answered the last write.',
            maxLength: 64,
          }),
        ),
      },
      { description: INTERNAL_DESCRIPTION },
    ),
  ),
  conditions: Type.Optional(
    conditionsList(
      'Ready: at least one agent is connected. Synced: Deployment, key or token, and credential are as the spec says. Connected: every agent is connected. Reconciling: work is in progress. Stalled: nothing more happens until someone acts. The last two are present only while they are true (kstatus).',
    ),
  ),
}

const spec = object(tunnelSpecFields, { description: 'A tunnel.' })
const status = object(tunnelStatusFields, { description: 'State of a tunnel.' })

export type TunnelSpec = Static<typeof spec>
export type TunnelStatus = Static<typeof status>

/** A kind whose CRs consist of other Kubernetes objects, which they own: nothing at the API is theirs. */
export interface ComposedDescriptor {
  readonly role: 'composed'
  readonly definition: KindDefinition
  readonly reach: Reach
  /** The kind that `backendRef` names. */
  readonly backend: string
  /** The kinds of the credentials that it makes. `credentialRef` names one of those for keys. */
  readonly credentials: Readonly<Record<CredentialForm, string>>
  /** The labels by which a Backend with that spec finds tunnels; undefined if it finds none. */
  labelsOf(backend: CommonSpec): Readonly<Record<string, string>> | undefined
}
