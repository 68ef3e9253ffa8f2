import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { caPem } from '../builders/contract/ca-pem.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { nightlyUnlessVaried } from '../kinds/lookup.ts'
import { printedCommand, runPrinted } from './support/printed-command.ts'
import { until } from './support/wait.ts'
import { conditionOf, typeOf, World } from './support/world.ts'

type Spec = Record<string, unknown>

const rules = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((cidr) => ({ cidr, action: 'Allow' }))
const office: Spec = { rules }
const shop: Spec = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }
const sink: Spec = {
  type: 'Kinesis',
  kinesis: {
    streamARN: 'arn:aws:kinesis:eu:1:stream/a',
    auth: { type: 'Role', role: { roleARN: 'arn:aws:iam::1:role/a' } },
  },
}
const pipeline: Spec = { displayName: 'Deployment pipeline' }
const certified = (principal: string, output: Spec = {}): Spec => {
  return {
    sshCertificateAuthorityRef: { name: 'team' },
    publicKey: sshKeys.ed25519,
    principals: [principal],
    ...output,
  }
}

const certifiedBy = ({ id }: Spec): Spec => ({ ssh_certificate_authority_id: id, public_key: sshKeys.rsa })

interface Use {
  readonly target: readonly [kind: string, name: string, spec: Spec, path: string]
  readonly user: readonly [kind: string, name: string, spec: Spec, path: string]
  /**
   * The body of an object next to the user's, made by somebody else, that uses the target's object too; none where one
   * alone can.
   */
  readonly other?: (target: Spec) => Spec
}

const uses: readonly Use[] = [
  {
    target: ['IPPolicy', 'office', office, 'ip_policies'],
    user: ['Edge', 'front', { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }, 'edges/tcp'],
    other: ({ id }) => ({ ip_restriction: { ip_policy_ids: [id] } }),
  },
  {
    target: ['Backend', 'shop', shop, 'backends/tunnel_group'],
    user: ['Edge', 'front', { protocol: 'TLS', backend: { name: 'shop' } }, 'edges/tls'],
    other: ({ id }) => ({ backend: { backend_id: id } }),
  },
  {
    target: ['Backend', 'shop', shop, 'backends/tunnel_group'],
    user: [
      'Backend',
      'split',
      { type: 'Weighted', weighted: { backendRefs: [{ name: 'shop', weight: 1 }] } },
      'backends/weighted',
    ],
    other: ({ id }) => ({ backends: { [String(id)]: 1 } }),
  },
  {
    target: ['Backend', 'shop', shop, 'backends/tunnel_group'],
    user: [
      'Backend',
      'chain',
      { type: 'Failover', failover: { backendRefs: [{ name: 'shop' }] } },
      'backends/failover',
    ],
    other: ({ id }) => ({ backends: [id] }),
  },
  {
    target: ['EventDestination', 'log', sink, 'event_destinations'],
    user: [
      'EventSubscription',
      'audit',
      { sources: [{ type: 'ip_policy_created.v0' }], destinationRefs: [{ name: 'log' }] },
      'event_subscriptions',
    ],
    other: ({ id }) => ({ sources: [{ type: 'ip_policy_deleted.v0' }], destination_ids: [id] }),
  },
  {
    target: ['ReservedDomain', 'shop', { domain: 'shop.tunnel.example' }, 'reserved_domains'],
    user: [
      'Edge',
      'front',
      { protocol: 'TLS', hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: 'shop' }, port: 443 }] },
      'edges/tls',
    ],
    other: ({ domain }) => ({ hostports: [`${domain}:8443`] }),
  },
  {
    target: ['ReservedAddress', 'database', {}, 'reserved_addrs'],
    user: [
      'Edge',
      'front',
      { protocol: 'TCP', hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'database' } }] },
      'edges/tcp',
    ],
  },
  {
    target: ['IPPolicy', 'office', office, 'ip_policies'],
    user: ['IPRestriction', 'agents', { type: 'Agent', ipPolicyRefs: [{ name: 'office' }] }, 'ip_restrictions'],
    other: ({ id }) => ({ type: 'dashboard', ip_policy_ids: [id] }),
  },
  {
    target: ['CertificateAuthority', 'partners', { caPEM: caPem }, 'certificate_authorities'],
    user: [
      'Edge',
      'front',
      { protocol: 'TLS', mutualTLS: { certificateAuthorityRefs: [{ name: 'partners' }] } },
      'edges/tls',
    ],
    other: ({ id }) => ({ mutual_tls: { certificate_authority_ids: [id] } }),
  },
  {
    target: ['BotUser', 'pipeline', pipeline, 'bot_users'],
    user: ['APIKey', 'deploy', { owner: { botUserRef: { name: 'pipeline' } } }, 'api_keys'],
    other: ({ id }) => ({ owner_id: id }),
  },
  {
    target: ['BotUser', 'pipeline', pipeline, 'bot_users'],
    user: ['TunnelCredential', 'agent', { owner: { botUserRef: { name: 'pipeline' } } }, 'credentials'],
    other: ({ id }) => ({ owner_id: id }),
  },
  {
    target: ['BotUser', 'pipeline', pipeline, 'bot_users'],
    user: [
      'SSHCredential',
      'kiosk',
      { owner: { botUserRef: { name: 'pipeline' } }, publicKey: sshKeys.ed25519 },
      'ssh_credentials',
    ],
    other: ({ id }) => ({ owner_id: id, public_key: sshKeys.rsa }),
  },
  // The API would let an authority go, and then nothing could be signed for these any more.
  {
    target: ['SSHCertificateAuthority', 'team', {}, 'ssh_certificate_authorities'],
    user: [
      'SSHUserCertificate',
      'alice',
      certified('alice', { output: { secret: { name: 'certificate' } } }),
      'ssh_user_certificates',
    ],
    other: certifiedBy,
  },
  {
    target: ['SSHCertificateAuthority', 'team', {}, 'ssh_certificate_authorities'],
    user: [
      'SSHHostCertificate',
      'database',
      certified('db.example.com', { output: { configMap: { name: 'certificate' } } }),
      'ssh_host_certificates',
    ],
    other: certifiedBy,
  },
]

/** The one request of this kind since `mark`. */
function only(world: World, mark: number, method: string, path: RegExp): JournalEntry {
  const found = world.journal(mark).filter((entry) => entry.method === method && path.test(entry.path))
  expect(found).toHaveLength(1)
  return found[0] as JournalEntry
}

/** Waits until the deletion of the resource says that `user` holds it. */
async function waitsFor(world: World, kind: string, name: string, user: string): Promise<void> {
  const met = ['Ready', 'Synced', 'Reconciling'] as const
  const cr = await world.until(kind, name, `waits for ${user}`, (each) => {
    return met.every((type) => {
      // Of what no resource manages, the message says what to do.
      const [message, remedy = ''] = conditionOf(each, type)?.message.split('. ') ?? []
      return message === `in use by ${user}` && user.includes('_') === remedy.includes('delete them in the service')
    })
  })
  expect(conditionOf(cr, 'Ready')).toMatchObject({ status: 'False', reason: 'Deleting' })
  expect(conditionOf(cr, 'Reconciling')).toMatchObject({ status: 'True' })
}

for (const [index, { target, user, other }] of uses.entries()) {
  const [kind, name, spec, path] = target
  const [userKind, userName, userSpec, userPath] = user
  // By day, one use of each kind that varies.
  const tags = uses.findIndex((use) => use.target[0] === kind) === index ? nightlyUnlessVaried(kind) : ['nightly']

  test(`${kind}/${name}, which ${userKind}/${userName} uses in ${userPath}, is deleted only after it`, {
    tags,
  }, async () => {
    await using world = await World.open()
    await world.apply(kind, name, spec)
    await world.apply(userKind, userName, userSpec)
    const { status } = await world.ready(userKind, userName)
    const [held] = await world.remote(path)
    // The operator has to find it in a list: no resource here refers to the target for it.
    const theirs = other && (await world.api.create(`/${userPath}`, other(held ?? {})))
    const mark = world.mark()

    await world.delete(kind, name)
    await waitsFor(world, kind, name, `${userKind}/${userName}`)
    const events = () => world.events(kind, name)
    const note = `in use by ${userKind}/${userName}. `
    await until('an Event tells of it', async () => (await events()).some((event) => event.note.startsWith(note)), {
      describe: events,
    })
    const told = { reason: 'Deleting', note: expect.stringContaining(note), type: 'Normal' }
    expect(await events()).toContainEqual(told)
    // An edit of the user, and a pass over the account, change nothing for the one it uses.
    await world.apply(userKind, userName, { ...userSpec, description: 'edited meanwhile' })
    await world.ready(userKind, userName)
    await world.resync()
    expect(await world.remote(path)).toEqual([held])
    expect(world.writes(mark).map(({ method, path: written }) => `${method} ${written}`)).toEqual([
      `PATCH /${userPath}/${status?.id}`,
    ])

    await world.delete(userKind, userName)
    await world.gone(userKind, userName)
    if (theirs !== undefined) {
      await waitsFor(world, kind, name, `${userPath}/${theirs}`)
      await world.api.delete(`/${userPath}/${theirs}`)
      await world.annotate(kind, name, { 'culvert.dev/reconcile-requested-at': 'now' })
    }
    await world.gone(kind, name)
    const last = only(world, mark, 'DELETE', new RegExp(`^/${userPath}/${theirs ?? ''}`))
    const first = only(world, mark, 'DELETE', new RegExp(`^/${path}/`))
    expect(first.seq).toBeGreaterThan(last.answeredSeq ?? Number.POSITIVE_INFINITY)
    expect(await world.remote(path)).toEqual([])
  })
}

// As a tool for GitOps prunes a resource that is in use, and applies it again after the commit was reverted.
for (const { target, user } of uses.filter(({ target: [kind] }, index) => {
  return uses.findIndex((use) => use.target[0] === kind) === index
})) {
  const [kind, name, spec, path] = target
  const [userKind, userName, userSpec, userPath] = user

  test(`${kind}/${name}, deleted while in use, comes back with its object by the command of its message`, {
    tags: nightlyUnlessVaried(kind),
  }, async () => {
    await using world = await World.open()
    await world.apply(kind, name, spec)
    await world.apply(userKind, userName, userSpec)
    await world.ready(userKind, userName)
    const held = await world.ready(kind, name)
    const users = await world.remote(userPath)
    const mark = world.mark()

    await world.delete(kind, name)
    await waitsFor(world, kind, name, `${userKind}/${userName}`)
    const { message } = await world.reason(kind, name, 'Ready', 'Deleting')
    await runPrinted(printedCommand(message), world.kubeconfig)
    await world.gone(kind, name)
    const [, externalID] = /with spec\.externalID: (\S+) and managementPolicy: Manage:/.exec(message) ?? []
    const adopting = externalID === undefined ? {} : { externalID, managementPolicy: 'Manage' }
    await world.apply(kind, name, { ...spec, ...adopting })
    expect((await world.ready(kind, name)).status?.id).toBe(held.status?.id)
    await world.ready(userKind, userName)
    expect(await world.remote(userPath)).toEqual(users)
    expect(await world.remote(path)).toHaveLength(1)
    // The marker gets the UID of the new resource, in its parts too.
    const other = world.writes(mark).filter((each) => each.method !== 'PATCH' || each.path.startsWith(`/${userPath}/`))
    expect(other).toEqual([])
  })
}

test('an Account, deleted while resources need it, comes back by the command of its message', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  const { id } = (await world.apply('Backend', 'shop', shop).then(() => world.ready('Backend', 'shop'))).status ?? {}
  const { spec } = await world.until('Account', 'default', 'exists', () => true)
  // What others keep it for stays theirs.
  const kept = { metadata: { finalizers: ['example.com/kept', 'culvert.dev/remote'] } }
  await world.kube.mergePatch(typeOf('Account'), { namespace: world.namespace, name: 'default' }, kept)
  const mark = world.mark()
  await world.delete('Account', 'default')
  const { message } = await world.reason('Account', 'default', 'Ready', 'Deleting')
  await runPrinted(printedCommand(message), world.kubeconfig)
  expect((await world.get('Account', 'default'))?.metadata.finalizers).toEqual(['example.com/kept'])
  const freed = { metadata: { finalizers: null } }
  await world.kube.mergePatch(typeOf('Account'), { namespace: world.namespace, name: 'default' }, freed)
  await world.gone('Account', 'default')
  await world.apply('Account', 'default', spec)
  await world.reason('Account', 'default', 'Ready', 'Available')
  expect((await world.ready('Backend', 'shop')).status?.id).toBe(id)
  expect(world.writes(mark)).toEqual([])
})

test('an Edge applied with its IPPolicy is created only after every rule is confirmed', async () => {
  await using world = await World.open()
  const third = world.emulator.admin.addFault({
    match: { method: 'POST', path: '/ip_policy_rules', nth: 3 },
    act: { type: 'status', status: 503 },
  })
  const edge = { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }
  await Promise.all([world.apply('Edge', 'front', edge), world.apply('IPPolicy', 'office', office)])
  await world.emulator.admin.waitForFault(third.id)
  await world.ready('Edge', 'front')

  const created = only(world, 0, 'POST', /^\/edges\/tcp$/)
  const confirmed = world.journal().filter(({ method, path, status }) => {
    return method === 'POST' && path === '/ip_policy_rules' && status === 201
  })
  expect(confirmed).toHaveLength(rules.length)
  for (const { answeredSeq } of confirmed) expect(answeredSeq).toBeLessThan(created.seq)
})

test('while a policy’s rules are being created, the waiting Edge asks nobody to add one', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  const match = { method: 'POST', path: '/ip_policy_rules', every: true }
  const fault = world.emulator.admin.addFault({ match, act: { type: 'status', status: 503 } })
  await world.apply('IPPolicy', 'office', office)
  await world.emulator.admin.waitForFault(fault.id)
  await world.apply('Edge', 'front', { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } })
  const lacking = 'spec.ipRestriction.ipPolicyRefs[0]: IPPolicy/office does not have every declared rule yet'
  await world.until('Edge', 'front', 'says that rules are missing', (edge) => {
    return conditionOf(edge, 'Ready')?.message === lacking
  })

  world.emulator.admin.clearFaults()
  await world.ready('Edge', 'front')
})

test('a waiting Edge names the policy that lacks a rule', async () => {
  await using world = await World.open()
  const fault = world.emulator.admin.addFault({
    match: { method: 'POST', path: '/ip_policy_rules', every: true },
    act: { type: 'status', status: 400 },
  })
  const edge = { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }
  await world.apply('Edge', 'front', edge)
  await world.apply('IPPolicy', 'office', office)
  await world.emulator.admin.waitForFault(fault.id)
  await world.reason('IPPolicy', 'office', 'Synced', 'Rejected')
  const { message } = await world.reason('Edge', 'front', 'Ready', 'ReferenceNotReady')
  expect(message).toMatch(/^spec\.ipRestriction\.ipPolicyRefs\[0\]: IPPolicy\/office /)
  expect(world.writes().filter(({ path }) => path.startsWith('/edges'))).toEqual([])

  world.emulator.admin.clearFaults()
  await world.annotate('IPPolicy', 'office', { 'culvert.dev/reconcile-requested-at': 'now' })
  await world.ready('Edge', 'front')
})

test('an Edge never exists without a module that its spec sets', async () => {
  await using world = await World.open()
  const authority = world.emulator.admin.seed({
    objects: { certificate_authorities: [{ ca_pem: caPem }] },
  }).objects.certificate_authorities?.[0]
  await world.apply('Edge', 'front', {
    protocol: 'TLS',
    backend: { name: 'shop' },
    ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
    mutualTLS: { certificateAuthorityRefs: [{ id: authority }] },
    tlsTermination: { minVersion: '1.2' },
    trafficPolicy: { inbound: [{ actions: [{ type: 'deny' }] }] },
  })
  await world.apply('Backend', 'shop', shop)
  await world.apply('IPPolicy', 'office', office)
  const { status } = await world.ready('Edge', 'front')
  const backend = (await world.ready('Backend', 'shop')).status?.id
  const policy = (await world.ready('IPPolicy', 'office')).status?.id

  const writes = world.writes().filter(({ path }) => path.startsWith('/edges'))
  expect(writes.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /edges/tls'])
  expect(writes[0]).toMatchObject({
    responseId: status?.id,
    body: {
      backend: { enabled: true, backend_id: backend },
      ip_restriction: { enabled: true, ip_policy_ids: [policy] },
      mutual_tls: { enabled: true, certificate_authority_ids: [authority] },
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.2' },
      policy: { enabled: true, inbound: [{ actions: [{ type: 'deny' }] }] },
    },
  })
  expect(status).toMatchObject({
    access: 'Restricted',
    internal: { appliedModules: ['backend', 'ipRestriction', 'mutualTLS', 'tlsTermination', 'trafficPolicy'] },
  })
})

test('with deletionPolicy Retain the object stays, and no call is made', async () => {
  await using world = await World.open()
  await world.apply('IPPolicy', 'office', { ...office, deletionPolicy: 'Retain' })
  const { status } = await world.ready('IPPolicy', 'office')
  const [before, rulesBefore] = [await world.remote('ip_policies'), await world.remote('ip_policy_rules')]
  const mark = world.mark()
  await world.delete('IPPolicy', 'office')
  await world.gone('IPPolicy', 'office')
  expect(world.journal(mark)).toEqual([])
  expect(await world.remote('ip_policies')).toEqual(before)
  expect(await world.remote('ip_policy_rules')).toEqual(rulesBefore)
  expect(before).toMatchObject([{ id: status?.id }])
})
