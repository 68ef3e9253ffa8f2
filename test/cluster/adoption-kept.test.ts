import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { conditionOf, type Resource, World } from './support/world.ts'

type Body = Readonly<Record<string, unknown>>

const DENY = [{ name: 'theirs', expressions: [], actions: [{ type: 'deny', config: {} }] }]

interface Handmade {
  readonly kind: string
  readonly path: string
  /** As somebody made it. */
  readonly made: Body
  /** All that the resource says of it. */
  readonly spec: Record<string, unknown>
}

/** Objects that shut more out than a new one of the same spec would. */
async function guarded(world: World): Promise<readonly Handmade[]> {
  const policy = await world.api.create('/ip_policies')
  await world.api.create('/ip_policy_rules', { ip_policy_id: policy, cidr: '198.51.100.0/24', action: 'allow' })
  const acl = ['bind:a.example.com', 'bind:app=shop']
  return [
    { kind: 'TunnelCredential', path: 'credentials', made: { acl }, spec: {} },
    {
      kind: 'SSHCredential',
      path: 'ssh_credentials',
      made: { acl, public_key: sshKeys.ed25519 },
      spec: { publicKey: sshKeys.ed25519 },
    },
    {
      kind: 'IPRestriction',
      path: 'ip_restrictions',
      made: { type: 'agent', enforced: true, ip_policy_ids: [policy] },
      spec: { type: 'Agent', ipPolicyRefs: [{ id: policy }] },
    },
    {
      kind: 'Edge',
      path: 'edges/tls',
      made: {
        ip_restriction: { enabled: true, ip_policy_ids: [policy] },
        policy: { enabled: true, inbound: DENY, outbound: DENY },
        tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.3' },
      },
      spec: { protocol: 'TLS', trafficPolicy: { inbound: [{ name: 'theirs', actions: [{ type: 'deny' }] }] } },
    },
    {
      kind: 'AgentIngress',
      path: 'agent_ingresses',
      made: {
        domain: 'kept.tunnel.example',
        certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' },
      },
      spec: { domain: 'kept.tunnel.example', certificate: { type: 'Managed' } },
    },
    {
      kind: 'SSHCertificateAuthority',
      path: 'ssh_certificate_authorities',
      made: { description: 'by hand', private_key_type: 'rsa', key_size: 2048 },
      spec: {},
    },
  ]
}

function nameOf({ kind }: Handmade): string {
  return kind.toLowerCase()
}

function essence({ certificate_management_status: _, ...body }: Body): Body {
  return body
}

test('adopting never widens: fields that the spec leaves out stay unchanged, drift included', {
  tags: 'nightly',
  timeout: 120_000,
}, async () => {
  await using world = await World.open()
  const handmade = await guarded(world)
  const ids = await Promise.all(handmade.map(({ path, made }) => world.api.create(`/${path}`, made)))
  const shown = (): Promise<readonly Body[]> =>
    Promise.all(handmade.map(async ({ path }, index) => essence((await world.api.get(`/${path}/${ids[index]}`)).body)))
  const before = await shown()
  const mark = world.mark()
  for (const managementPolicy of ['Observe', 'Manage']) {
    for (const [index, each] of handmade.entries()) {
      await world.apply(each.kind, nameOf(each), { ...each.spec, externalID: ids[index], managementPolicy })
    }
    for (const each of handmade) await world.ready(each.kind, nameOf(each))
  }
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  expect(await shown()).toEqual(before)
  for (const [index, each] of handmade.entries()) {
    expect((await world.get(each.kind, nameOf(each)))?.status).toMatchObject({ id: ids[index], adopted: true })
  }

  // What is left alone is left alone for good; what the spec has set goes back to the default once it leaves the spec.
  const [credential] = handmade as [Handmade]
  const naming = { externalID: ids[0], managementPolicy: 'Manage' }
  await world.api.patch(`/credentials/${ids[0]}`, { id: ids[0], acl: ['bind:b.example.com'] })
  await world.resync()
  await world.ready(credential.kind, nameOf(credential))
  expect((await world.api.get(`/credentials/${ids[0]}`)).body.acl).toEqual(['bind:b.example.com'])
  await world.apply(credential.kind, nameOf(credential), { acl: ['bind:c.example.com'], ...naming })
  await world.ready(credential.kind, nameOf(credential))
  await world.apply(credential.kind, nameOf(credential), naming)
  await world.until(credential.kind, nameOf(credential), 'has let go of the field', ({ status }) => {
    return status?.internal?.applied?.includes('acl') === false
  })
  const sent = world.writes(mark).flatMap(({ method, path, body }: JournalEntry) => {
    return method === 'PATCH' && path === `/credentials/${ids[0]}` ? [(body as Body).acl] : []
  })
  expect(sent).toEqual([['bind:b.example.com'], ['bind:c.example.com'], ['*']])
})

test('before adoption, each field shows its current and its wanted value, and a secret neither', async () => {
  await using world = await World.open()
  const credential = await world.api.create('/credentials', { acl: ['bind:a.example.com'], description: 'by hand' })
  const arn = 'arn:aws:firehose:eu-central-1:123456789012:deliverystream/a'
  const creds = { cloud_access_key_id: 'AKIAOFTHEIRS', cloud_secret_access_key: 'their-secret' }
  const target = { firehose: { auth: { creds }, delivery_stream_arn: arn } }
  const destination = await world.api.create('/event_destinations', { format: 'json', target })
  await world.secret('cloud', { id: 'AKIAOFMINE', secret: 'my-secret' })
  const policy = await world.api.create('/ip_policies')
  const rule = { ip_policy_id: policy, cidr: '198.51.100.0/24', action: 'allow', description: 'theirs' }
  await world.api.create('/ip_policy_rules', rule)

  const observed = async (kind: string, name: string, id: string, spec: Record<string, unknown>): Promise<string> => {
    await world.apply(kind, name, { ...spec, externalID: id, managementPolicy: 'Observe' })
    return (await world.reason(kind, name, 'Synced', 'Observed')).message
  }
  const mark = world.mark()
  expect(
    await observed('TunnelCredential', 'agents', credential, { acl: ['bind:b.example.com'], description: 'mine' }),
  ).toBe(
    'only observed; to be equal to the spec it would take: update acl, description. Set managementPolicy: Manage for that. ' +
      'By field: acl is ["bind:a.example.com"] and would be ["bind:b.example.com"]; description is "by hand" and would be "mine"',
  )
  const keys = {
    accessKeyIDSecretRef: { name: 'cloud', key: 'id' },
    secretAccessKeySecretRef: { name: 'cloud', key: 'secret' },
  }
  const firehose = { deliveryStreamARN: arn, auth: { type: 'AccessKey', accessKey: keys } }
  const told = await observed('EventDestination', 'sink', destination, { type: 'Firehose', firehose })
  expect(told).toContain('By field: target differs (it may hold secrets)')
  for (const secret of ['their-secret', 'my-secret', 'AKIAOFTHEIRS', 'AKIAOFMINE']) expect(told).not.toContain(secret)
  const rules = [{ cidr: '198.51.100.0/24', action: 'Allow', description: 'mine' }]
  expect(await observed('IPPolicy', 'office', policy, { rules })).toContain(
    'allow 198.51.100.0/24: description is "theirs" and would be "mine"',
  )
  expect(world.writes(mark)).toEqual([])
})

test('an adopted credential reports that its token is unknown until it is rotated', { tags: 'nightly' }, async () => {
  await using world = await World.open()
  const readyAs = async (kind: string, name: string, words: string): Promise<Resource> =>
    await world.until(kind, name, `says ${words}`, (cr) => conditionOf(cr, 'Ready')?.message.includes(words) === true)
  for (const [kind, name, collection] of [
    ['TunnelCredential', 'agent', '/credentials'],
    ['APIKey', 'robot', '/api_keys'],
  ] as const) {
    const id = await world.api.create(collection, {})
    for (const managementPolicy of ['Observe', 'Manage']) {
      await world.apply(kind, name, { externalID: id, managementPolicy })
      await world.until(kind, name, `has ${managementPolicy}`, ({ metadata, status }) => {
        return status?.observedGeneration === metadata.generation
      })
      await readyAs(kind, name, 'its token is not known here')
    }
    await world.annotate(kind, name, { 'culvert.dev/rotate-requested-at': 'now' })
    await readyAs(kind, name, 'is in its Secret')
  }
})
