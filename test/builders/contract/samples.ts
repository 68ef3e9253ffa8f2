import { expect } from 'vitest'
import { allCollections, collectionAt, createFields, fieldOf } from '../../contract/facts/all.ts'
import type { CollectionFact, FieldFact } from '../../contract/facts/facts.ts'
import { type Resource, refTo } from './api-client.ts'
import { caPem, partnerCaPem } from './ca-pem.ts'
import { sshKeys } from './ssh-keys.ts'
import type { World } from './world.ts'

/** A value for a request, and the value that every response then shows. */
export interface Sample {
  readonly sent: unknown
  readonly returned: unknown
}

/** `first` goes into creates; `second`, which differs, into updates. */
export type Variant = 'first' | 'second'

type MakeSample = (world: World, variant: Variant) => Promise<Sample> | Sample

const same = (value: unknown): Sample => ({ sent: value, returned: value })
const pick =
  (first: unknown, second: unknown): MakeSample =>
  (_world, variant) =>
    same(variant === 'first' ? first : second)
const seededRef = (id: string): unknown => ({ id, uri: expect.stringContaining(id) })

const texts: Readonly<Record<string, MakeSample>> = {
  description: pick('first description', 'second description, ünïcode'),
  metadata: pick('{"first":1}', ' any bytes\n\t"second" '),
}

const childBackend = (world: World, variant: Variant): Promise<Resource> =>
  world.api.create('backends/http_response', { description: variant })

const endpointConfiguration: MakeSample = async (world, variant) => {
  const id = await world.admin.seedEndpointConfiguration(variant)
  return { sent: id, returned: seededRef(id) }
}

const certificatePolicy: MakeSample = (_world, variant) =>
  same({ authority: 'letsencrypt', private_key_type: variant === 'first' ? 'rsa' : 'ecdsa' })

const rule = (name: string): unknown => ({
  name,
  expressions: ["conn.client_ip == '192.0.2.1'"],
  actions: [{ type: 'deny', config: { nested: [1, { deep: true }] } }],
})

const edgeSamples: Readonly<Record<string, MakeSample>> = {
  ...texts,
  hostports: async (world) => {
    const { domain } = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
    return same([`${domain}:443`])
  },
  backend: async (world, variant) => {
    const backend = await childBackend(world, variant)
    const enabled = variant === 'first'
    return { sent: { enabled, backend_id: backend.id }, returned: { enabled, backend: refTo(backend) } }
  },
  ip_restriction: async (world, variant) => {
    const policy = await world.api.create('ip_policies', { description: variant })
    const other = await world.api.create('ip_policies', {})
    return {
      sent: { enabled: true, ip_policy_ids: [policy.id, other.id] },
      returned: { enabled: true, ip_policies: [refTo(policy), refTo(other)] },
    }
  },
  mutual_tls: async (world, variant) => {
    const id = await world.admin.seedCertificateAuthority(variant)
    return {
      sent: { enabled: true, certificate_authority_ids: [id] },
      returned: { enabled: true, certificate_authorities: [seededRef(id)] },
    }
  },
  tls_termination: (_world, variant) =>
    same({ enabled: true, terminate_at: 'edge', min_version: variant === 'first' ? '1.2' : '1.3' }),
  policy: (_world, variant) =>
    same({ enabled: true, inbound: [rule(`in ${variant}`)], outbound: [rule('out'), rule(variant)] }),
}

const sshCertificate: Readonly<Record<string, MakeSample>> = {
  ...texts,
  public_key: pick(sshKeys.ed25519, sshKeys.rsa),
  ssh_certificate_authority_id: async (world) => same((await world.api.create('ssh_certificate_authorities', {})).id),
  principals: pick(['web', 'www.example.org', '192.0.2.1'], []),
  valid_after: pick('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
  valid_until: pick('2099-01-01T00:00:00Z', '2099-02-01T00:00:00Z'),
}

/** For each due collection, a sample of each field that a request may contain. */
const samples: Readonly<Record<string, Readonly<Record<string, MakeSample>>>> = {
  api_keys: {
    ...texts,
    owner_id: async (world) => same(await world.ownUserId()),
  },
  credentials: {
    ...texts,
    acl: pick(['bind:*.tunnel.example', 'bind:1.tcp.tunnel.example:20000', 'bind:*=web'], ['*']),
    owner_id: async (world) => same(await world.ownUserId()),
  },
  ssh_credentials: {
    ...texts,
    public_key: pick(sshKeys.ed25519, sshKeys.rsa),
    acl: pick(['bind:app=*'], ['bind:App.tunnel.example', 'bind:*=*']),
    owner_id: async (world) => same(await world.ownUserId()),
  },
  bot_users: { name: pick('first bot', 'second bot, ünïcode'), active: pick(false, true) },
  ip_policies: texts,
  ip_policy_rules: {
    ...texts,
    cidr: pick('192.0.2.0/24', '2001:db8::/32'),
    ip_policy_id: async (world) => {
      const policy = await world.api.create('ip_policies', {})
      return { sent: policy.id, returned: refTo(policy) }
    },
    action: pick('allow', 'deny'),
  },
  ip_restrictions: {
    ...texts,
    enforced: pick(true, false),
    // Of a type that the emulator only stores, so that it restricts no other test.
    type: pick('dashboard', 'endpoints'),
    ip_policy_ids: async (world) => {
      const [one, two] = [await world.api.create('ip_policies', {}), await world.api.create('ip_policies', {})]
      return { sent: [two.id, one.id], returned: [refTo(two), refTo(one)] }
    },
  },
  reserved_domains: {
    ...texts,
    domain: (world) => same(world.serviceDomain()),
    region: pick('eu', 'us'),
    certificate_id: async (world, variant) => {
      const id = await world.admin.seedTlsCertificate(variant)
      return { sent: id, returned: seededRef(id) }
    },
    certificate_management_policy: certificatePolicy,
    http_endpoint_configuration_id: endpointConfiguration,
    https_endpoint_configuration_id: endpointConfiguration,
  },
  reserved_addrs: {
    ...texts,
    region: pick('eu', 'jp'),
    endpoint_configuration_id: endpointConfiguration,
  },
  agent_ingresses: {
    ...texts,
    domain: (world) => same(world.customDomain()),
    certificate_management_policy: certificatePolicy,
  },
  'edges/tcp': edgeSamples,
  'edges/tls': edgeSamples,
  'backends/tunnel_group': { ...texts, labels: pick({ App: 'first', 'a.b/c': '' }, { other: 'ä' }) },
  'backends/http_response': {
    ...texts,
    body: pick('hello', ''),
    headers: pick({ 'content-type': 'text/plain' }, { 'x-second': 'Kept As Sent' }),
    status_code: pick(404, 503),
  },
  'backends/weighted': {
    ...texts,
    backends: async (world, variant) => {
      const [one, two] = [await childBackend(world, variant), await childBackend(world, variant)]
      return same({ [one.id]: 0, [two.id]: 10_000 })
    },
  },
  'backends/failover': {
    ...texts,
    backends: async (world, variant) => {
      const [one, two] = [await childBackend(world, variant), await childBackend(world, variant)]
      return same([two.id, one.id])
    },
  },
  ssh_certificate_authorities: {
    ...texts,
    private_key_type: pick('ecdsa', 'rsa'),
    elliptic_curve: pick('P-384', 'P-521'),
    key_size: pick(2048, 4096),
  },
  ssh_user_certificates: {
    ...sshCertificate,
    critical_options: pick({ 'source-address': '192.0.2.0/24,2001:db8::/32', 'force-command': '/bin/true' }, {}),
    extensions: pick({ 'permit-pty': '', 'group@example.org': 'ops' }, {}),
  },
  ssh_host_certificates: sshCertificate,
  certificate_authorities: { ...texts, ca_pem: pick(caPem, partnerCaPem) },
  event_destinations: {
    ...texts,
    format: pick('json', 'json'),
    target: (_world, variant) =>
      variant === 'first'
        ? {
            sent: { monitor: { api_key: 'k', monitortags: 'a:b', service: 's', monitorsite: 'eu' } },
            returned: {
              firehose: null,
              kinesis: null,
              cloudwatch_logs: null,
              monitor: { api_key: null, monitortags: 'a:b', service: 's', monitorsite: 'eu' },
            },
          }
        : {
            sent: { kinesis: { auth: { role: { role_arn: 'arn:role' } }, stream_arn: 'arn:stream' } },
            returned: {
              firehose: null,
              kinesis: { auth: { role: { role_arn: 'arn:role' }, creds: null }, stream_arn: 'arn:stream' },
              cloudwatch_logs: null,
              monitor: null,
            },
          },
  },
  event_subscriptions: {
    ...texts,
    sources: (_world, variant) => {
      const type = variant === 'first' ? 'ip_policy_created.v0' : 'tcp_edge_deleted.v0'
      return { sent: [{ type }], returned: [{ type, uri: expect.stringMatching(new RegExp(`/sources/${type}$`)) }] }
    },
    destination_ids: async (world) => {
      const destination = await world.api.create('event_destinations', {
        format: 'json',
        target: { monitor: { api_key: 'k' } },
      })
      return { sent: [destination.id], returned: [refTo(destination)] }
    },
  },
}

/** A sample of one field. Throws if a due collection lacks one. */
export async function sampleOf(
  world: World,
  row: CollectionFact,
  field: FieldFact,
  variant: Variant = 'first',
): Promise<Sample> {
  const make = samples[row.path]?.[field.name]
  if (make === undefined) throw new Error(`no sample for ${field.id}`)
  return make(world, variant)
}

/** A body, and the response fields that follow from it. */
export interface BodySample {
  readonly body: Record<string, unknown>
  readonly shown: Record<string, unknown>
}

async function bodyOf(
  world: World,
  row: CollectionFact,
  fields: readonly FieldFact[],
  variant: Variant,
): Promise<BodySample> {
  const body: Record<string, unknown> = {}
  const shown: Record<string, unknown> = {}
  for (const field of fields) {
    // Of two fields that exclude each other, the first stays; a field that requires another's value follows it.
    if (field.sent?.excludes !== undefined && field.sent.excludes in body) continue
    const partner = field.sent?.goesWith
    if (partner !== undefined && body[partner.field] !== partner.value) continue
    const sample = await sampleOf(world, row, field, variant)
    body[field.name] = sample.sent
    if (field.sent?.shownAs !== undefined) shown[field.sent.shownAs] = sample.returned
  }
  return { body, shown }
}

/** The minimal body of a create. */
export function minimalBody(world: World, row: CollectionFact): Promise<BodySample> {
  const mandatory = createFields(row).filter((field) => field.sent?.create === 'mandatory')
  return bodyOf(world, row, mandatory, 'first')
}

/** Every field that a create may contain. */
export function fullBody(world: World, row: CollectionFact): Promise<BodySample> {
  return bodyOf(world, row, createFields(row), 'first')
}

/** Every field that an update may contain, each with another value than in `fullBody`. */
export function updateBody(world: World, row: CollectionFact): Promise<BodySample> {
  const mutable = row.fields.filter((field) => field.sent?.update === 'mutable')
  return bodyOf(world, row, mutable, 'second')
}

/** An object with only its mandatory fields. */
export async function createMinimal(world: World, path: string): Promise<Resource> {
  return world.api.create(path, (await minimalBody(world, collectionAt(path))).body)
}

/** Fields of due collections without a sample; for the test that there are none. */
export function fieldsWithoutSample(): readonly string[] {
  return allCollections
    .filter((row) => row.due === 'now')
    .flatMap((row) => row.fields.filter((field) => field.sent !== undefined).map((field) => [row, field] as const))
    .filter(([row, field]) => samples[row.path]?.[fieldOf(row, field.name).name] === undefined)
    .map(([, field]) => field.id)
}
