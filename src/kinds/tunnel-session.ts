import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import { accountInUse, type Fields } from '../managed/descriptor/common.ts'
import type { MirrorDescriptor } from '../managed/descriptor/mirror.ts'
import { GROUP } from '../managed/names.ts'
import { object, text, timestamp } from '../schema/define.ts'
import { defineKind, experimental } from '../schema/definition.ts'
import { cut } from '../util/printable.ts'
import { textColumn, wideColumn } from './building-blocks/columns.ts'
import { common } from './building-blocks/plain-kind.ts'
import { refId, refURI, textOf, timeOf, wholeText } from './building-blocks/remote.ts'

const ID = 255
const URI = 2048
/** In characters. Longer texts are cut, since the API chooses them, and there may be thousands. */
const SHORT = 256
const METADATA = 4096

const definition = defineKind({
  ...common,
  kind: 'TunnelSession',
  plural: 'tunnelsessions',
  singular: 'tunnelsession',
  shortNames: ['tsess'],
  scope: 'Namespaced',
  selectableFields: ['.status.id', '.status.accountRef.name'],
  description: experimental(
    'An online tunnel session, as the API lists it; read-only. Culvert creates one for each session of an account with `mirrorSessions` enabled, and deletes it when the session ends. Edits are undone.',
  ),
  specRequired: false,
  spec: object({}, { description: 'Empty: a session begins and ends with its agent.' }),
  status: object(
    {
      accountRef: Type.Optional(accountInUse('The account that the session belongs to.')),
      id: Type.Optional(text({ description: 'Id of the session.', maxLength: ID })),
      uri: Type.Optional(text({ description: 'Address of the session at the API.', maxLength: URI })),
      agentVersion: Type.Optional(
        text({ description: 'Version of the agent that started the session.', maxLength: SHORT }),
      ),
      credential: Type.Optional(
        object(
          {
            id: text({ description: 'Its id at the API.', maxLength: ID }),
            uri: Type.Optional(text({ description: 'Its address at the API.', maxLength: URI })),
          },
          { description: 'The tunnel credential or SSH credential that the session was started with.' },
        ),
      ),
      ip: Type.Optional(text({ description: 'Source IP address of the session.', maxLength: SHORT })),
      metadata: Type.Optional(
        text({ description: "User data from the agent's configuration file.", maxLength: METADATA }),
      ),
      os: Type.Optional(text({ description: "Operating system of the agent's host.", maxLength: SHORT })),
      region: Type.Optional(
        text({ description: 'Region of the service that the session started in.', maxLength: SHORT }),
      ),
      startedAt: Type.Optional(timestamp({ description: 'When the session first connected.' })),
      transport: Type.Optional(
        text({
          description: "Protocol of the session: the service's own, such as `svc/v2`, or `ssh`.",
          maxLength: SHORT,
        }),
      ),
    },
    { description: 'Observed state of the session.' },
  ),
  printerColumns: [
    textColumn('ID', '.status.id', 'Id of the session.'),
    textColumn('IP', '.status.ip', 'Source IP address.'),
    textColumn('OS', '.status.os', "Operating system of the agent's host."),
    textColumn('Region', '.status.region', 'Region that the session started in.'),
    textColumn('Version', '.status.agentVersion', 'Version of the agent.'),
    {
      name: 'Started',
      type: 'date',
      jsonPath: '.status.startedAt',
      description: 'How long the session has been connected.',
    },
    wideColumn('Transport', '.status.transport', 'Protocol of the session.'),
    wideColumn('Credential', '.status.credential.id', 'Credential that it was started with.'),
    wideColumn('Account', '.status.accountRef.name', 'Account that the session belongs to.'),
  ],
  notes: `
Find sessions by label: \`kubectl get tunnelsessions -l culvert.dev/os=linux,culvert.dev/region=eu\`. The labels are
\`culvert.dev/os\`, \`culvert.dev/region\`, \`culvert.dev/transport\` and \`culvert.dev/credential\` (an id). Characters
that a label value cannot have become \`-\`, as in \`svc-v2\`, and a value longer than 63 characters is cut and ends in
a digest. Labels and annotations of your own are kept.

The sessions are listed again every \`mirrorSessions.interval\` of the account. While the account is not Ready, those
from the last list stay. Deleting a TunnelSession does not end the session: the next list creates it again. Use a
[TunnelSessionCommand](tunnelsessioncommands.md) to stop it. An account shows at most \`mirrorSessions.maxSessions\`
sessions, and a namespace those of at most four accounts: the oldest. Texts of more than ${SHORT} characters
(${METADATA} in \`metadata\`) are cut and end in \`…\`. If two accounts of a namespace list the same session, one of
them shows it.
`,
})

/** Online tunnel sessions (`management-api.md § Tunnel sessions`). */
export const tunnelSession: MirrorDescriptor = {
  role: 'mirror',
  definition,
  collection: collections.tunnelSessions,
  namePrefix: 'ts-',
  settings: ({ mirrorSessions }) => mirrorSessions,
  labels: ({ os, region, transport, credential }) => ({
    [`${GROUP}/os`]: labelValue(textOf(os)),
    [`${GROUP}/region`]: labelValue(textOf(region)),
    [`${GROUP}/transport`]: labelValue(textOf(transport)),
    [`${GROUP}/credential`]: labelValue(refId(credential)),
  }),
  status: statusFrom,
}

function statusFrom(session: RemoteObject): Fields {
  const { id, uri, agent_version, credential, ip, metadata, os, region, started_at, transport } = session
  return {
    id,
    uri: wholeText(uri, URI),
    agentVersion: short(agent_version),
    credential: credentialFrom(credential),
    ip: short(ip),
    metadata: shortened(metadata, METADATA),
    os: short(os),
    region: short(region),
    startedAt: timeOf(started_at),
    transport: short(transport),
  }
}

function credentialFrom(value: unknown): Fields | undefined {
  const id = wholeText(refId(value), ID)
  return id === undefined ? undefined : { id, uri: wholeText(refURI(value), URI) }
}

function short(value: unknown): string | undefined {
  return shortened(value, SHORT)
}

function shortened(value: unknown, max: number): string | undefined {
  const found = textOf(value)
  return found === undefined ? undefined : cut(found, max)
}

/** Maximum length of a label value in Kubernetes. */
const LONGEST = 63
const DIGEST = 8

/**
 * `text` as a label value: at most 63 characters of letters, digits, `-`, `_` and `.`, with a letter or digit at either
 * end. A valid value is unchanged. Otherwise each run of other characters becomes a `-`, and a long value is cut and
 * ends in a digest, so that two long values with the same beginning stay distinct. Undefined if nothing is left.
 */
export function labelValue(text: string | undefined): string | undefined {
  const plain = trimmed((text ?? '').replaceAll(/[^A-Za-z0-9._-]+/g, '-'))
  if (plain === '') return undefined
  if (plain.length <= LONGEST) return plain
  const digest = createHash('sha256').update(plain).digest('hex').slice(0, DIGEST)
  return `${trimmed(plain.slice(0, LONGEST - DIGEST - 1))}-${digest}`
}

function trimmed(text: string): string {
  return text.replace(/^[^A-Za-z0-9]+/, '').replace(/[^A-Za-z0-9]+$/, '')
}
