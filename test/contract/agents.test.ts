import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Agents } from '../builders/contract/agents.ts'
import { ApiClient, expectRefusal, objectIn, type Resource, refTo } from '../builders/contract/api-client.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
let agents: Agents
beforeAll(async () => {
  world = await startWorld()
  agents = new Agents(world)
})
beforeEach(async () => {
  for (const { id } of await agents.all()) await agents.disconnect(id)
})
afterAll(() => world.close())

const sessionIds = async (): Promise<readonly string[]> => (await agents.sessions()).map(({ id }) => id)

test(stated('agents.credential'), async () => {
  const credential = await world.api.create('credentials', {})
  const { sessionId } = await agents.connect({ token: credential.token })
  expect((await world.api.get('tunnel_sessions', sessionId)).credential).toEqual(refTo(credential))

  const ssh = await world.api.create('ssh_credentials', { public_key: sshKeys.ed25519 })
  const byKey = sshKeys.ed25519.replace('me@laptop', 'other comment')
  for (const body of [{ sshCredential: ssh.id }, { publicKey: byKey }]) {
    const session = await world.api.get('tunnel_sessions', (await agents.connect(body)).sessionId)
    expect(session).toMatchObject({ credential: refTo(ssh), transport: 'ssh' })
  }

  const { token: apiKey } = await world.api.create('api_keys', {})
  const refused = [
    { token: apiKey },
    { token: 'tk_none' },
    { sshCredential: credential.id },
    { publicKey: sshKeys.rsa },
  ]
  for (const body of refused) expectRefusal(await agents.try(body), 404)
  for (const body of [{}, { token: credential.token, sshCredential: ssh.id }, { publicKey: 'nonsense' }]) {
    expectRefusal(await agents.try(body), 400)
  }
  const wrong = [
    { ip: 'here' },
    { availableVersions: ['3.1'] },
    { metadata: 'x'.repeat(4097) },
    { tunnels: [{}] },
    { tunnels: [{ labels: {} }] },
    { tunnels: [{ domain: 'a.example.org', labels: { a: 'b' } }] },
    { tunnels: [{ address: 'a.example.org' }] },
    { colour: 'blue' },
  ]
  for (const body of wrong) {
    const field = String(Object.keys(body)[0])
    expectRefusal(await agents.try({ token: credential.token, ...body }), 400, `agent.${field}`)
  }
  expect(await sessionIds()).toHaveLength(3)
})

test('an agent with the credential of another account has its session there', async () => {
  const stranger = new ApiClient(world.url, await world.admin.seedAccount('stranger'))
  const { token } = await stranger.create('credentials', {})
  const { sessionId } = await agents.connect({ token })
  expect((await stranger.all('/tunnel_sessions', 'tunnel_sessions')).map(({ id }) => id)).toEqual([sessionId])
  expect(await sessionIds()).toEqual([])
})

test('the credential of a bot user that is not active starts no session', async () => {
  const bot = await world.api.create('bot_users', { name: 'agents' })
  const { token } = await world.api.create('credentials', { owner_id: bot.id })
  await agents.connect({ token })
  await world.api.update('bot_users', bot.id, { active: false })
  expectRefusal(await agents.try({ token }), 403, bot.id)
  await world.api.update('bot_users', bot.id, { active: true })
  await agents.connect({ token })
})

describe('an agent', () => {
  const labels = (labelled: Record<string, string>): unknown => ({ labels: labelled })
  const domain = (name: string): unknown => ({ domain: name })
  const address = (name: string): unknown => ({ address: name })
  /** Rules, what they permit, and what they do not permit without the missing rule. */
  const cases: readonly [
    rules: readonly string[],
    permitted: readonly unknown[],
    refused: readonly [unknown, string][],
  ][] = [
    [[], [labels({ a: 'b' }), domain('a.example.org'), address('a.example.org:443')], []],
    [['*'], [labels({ a: 'b' }), domain('a.example.org'), address('a.example.org:443')], []],
    [
      ['bind:app=web'],
      [labels({ app: 'web' })],
      [
        [labels({ app: 'Web' }), 'bind:app=Web'],
        [labels({ app: 'web', tier: 'one' }), 'bind:tier=one'],
        [domain('web.example.org'), 'bind:web.example.org'],
        [address('web.example.org:443'), 'bind:web.example.org:443'],
      ],
    ],
    [['bind:*=web'], [labels({ app: 'web', other: 'web' })], [[labels({ app: 'db' }), 'bind:app=db']]],
    [['bind:app=*'], [labels({ app: 'web' }), labels({ app: '' })], [[labels({ other: 'web' }), 'bind:other=web']]],
    [['bind:*=*'], [labels({ app: 'web' })], [[domain('a.example.org'), 'bind:a.example.org']]],
    [
      ['bind:app.example.org'],
      [domain('App.example.ORG'), address('app.example.org:443')],
      [
        [domain('a.app.example.org'), 'bind:a.app.example.org'],
        [address('other.example.org:443'), 'bind:other.example.org:443'],
      ],
    ],
    [
      ['bind:*.example.org'],
      [domain('a.example.org'), domain('a.b.example.org'), domain('*.example.org'), domain('*.b.example.org')],
      [
        [domain('example.org'), 'bind:example.org'],
        [domain('anexample.org'), 'bind:anexample.org'],
      ],
    ],
    [
      ['bind:1.tcp.tunnel.example:20000'],
      [address('1.TCP.tunnel.example:20000')],
      [
        [address('1.tcp.tunnel.example:20001'), 'bind:1.tcp.tunnel.example:20001'],
        [domain('1.tcp.tunnel.example'), 'bind:1.tcp.tunnel.example'],
      ],
    ],
    [
      ['bind:app=web', 'bind:a.example.org'],
      [labels({ app: 'web' }), domain('a.example.org')],
      [[domain('b.example.org'), 'bind:b.example.org']],
    ],
  ]

  test.each(cases)(`${stated('agents.acl')}: %j`, async (acl, permitted, refused) => {
    const credential = await world.api.create('credentials', { acl })
    const { token } = credential
    for (const tunnel of permitted) {
      const { tunnels } = await agents.connect({ token, tunnels: [tunnel] })
      expect(tunnels).toMatchObject([{ id: expect.stringMatching(/^tn_\w{27}$/) }])
    }
    await agents.connect({ token, tunnels: permitted })
    const before = await sessionIds()
    for (const [tunnel, rule] of refused) {
      const answer = await agents.try({ token, tunnels: [...permitted, tunnel] })
      const { details } = expectRefusal(answer, 403, credential.id)
      expect(details.rules).toBe(rule)
    }
    expect(await sessionIds()).toEqual(before)
  })

  test(`${stated('agents.acl')}: an SSH credential's`, async () => {
    const ssh = await world.api.create('ssh_credentials', { public_key: sshKeys.ecdsa256, acl: ['bind:app=web'] })
    await agents.connect({ sshCredential: ssh.id, tunnels: [labels({ app: 'web' })] })
    const answer = await agents.try({ sshCredential: ssh.id, tunnels: [labels({ app: 'db' })] })
    expectRefusal(answer, 403, ssh.id, 'bind:app=db')
  })
})

describe('agent restrictions', () => {
  let restriction: Resource
  const restrict = async (enforced: boolean): Promise<void> => {
    const { id } = await world.api.create('ip_policies', {})
    await world.api.create('ip_policy_rules', { ip_policy_id: id, cidr: '192.0.2.0/24', action: 'allow' })
    restriction = await world.api.create('ip_restrictions', { type: 'agent', enforced, ip_policy_ids: [id] })
  }

  test(stated('agents.restrictions'), async () => {
    await restrict(false)
    expect((await agents.connect({ ip: '192.0.2.7' })).warnings).toEqual([])
    expect((await agents.connect({ ip: '::ffff:192.0.2.7' })).warnings).toEqual([])
    expect((await agents.connect({ ip: '198.51.100.7' })).warnings).toEqual([restriction.id])
    await world.api.update('ip_restrictions', restriction.id, { enforced: true })
    const { token } = await world.api.create('credentials', {})
    expectRefusal(await agents.try({ token, ip: '198.51.100.7' }), 403, restriction.id, '198.51.100.7')
    await agents.connect({ token, ip: '192.0.2.7' })
    // Agents already online stay online.
    expect(await sessionIds()).toHaveLength(4)
    await world.api.remove(`/ip_restrictions/${restriction.id}`)
    await agents.connect({ token, ip: '198.51.100.7' })
  })

  test(stated('agents.let-in-again'), async () => {
    const bound = { tunnels: [{ labels: { app: 'web' } }], restartSeconds: 0 }
    const credential = await world.api.create('credentials', {})
    const [moved, narrowed] = [
      await agents.connect({ ...bound, ip: '198.51.100.7' }),
      await agents.connect({ ...bound, ip: '192.0.2.7', token: credential.token }),
    ]
    await restrict(true)
    await world.api.update('credentials', credential.id, { acl: ['bind:app=db'] })
    expect(await sessionIds()).toHaveLength(2)
    for (const { sessionId } of [moved, narrowed]) await agents.command(sessionId, 'restart')
    expect(await sessionIds()).toEqual([])
    const refused = { state: 'refused', sessionId: null }
    expect(await agents.get(moved.id)).toMatchObject({ ...refused, refusal: expect.stringContaining(restriction.id) })
    expect(await agents.get(narrowed.id)).toMatchObject({
      ...refused,
      refusal: expect.stringContaining('bind:app=web'),
    })
    await world.api.remove(`/ip_restrictions/${restriction.id}`)
  })
})

test(stated('sessions.credential-deleted'), async () => {
  const credential = await world.api.create('credentials', {})
  const { id, sessionId } = await agents.connect({ token: credential.token, restartSeconds: 0 })
  await world.api.remove(`/credentials/${credential.id}`)
  expect((await world.api.get('tunnel_sessions', sessionId)).credential).toEqual(refTo(credential))
  expectRefusal(await agents.try({ token: credential.token }), 404)
  expect((await agents.command(sessionId, 'restart')).status).toBe(204)
  expect(await sessionIds()).toEqual([])
  const after = await agents.get(id)
  expect(after).toMatchObject({ state: 'refused', refusal: expect.stringContaining(credential.id) })
})

test(stated('tunnels.matching'), async () => {
  const bear = (labels: Record<string, string>): Record<string, unknown> => ({ tunnels: [{ labels }] })
  const group = (labels: Record<string, string>): Promise<Resource> =>
    world.api.create('backends/tunnel_group', { labels })
  const [web, blue, none, other] = [
    await group({ app: 'web' }),
    await group({ app: 'web', colour: 'blue' }),
    await group({}),
    await group({ app: 'WEB' }),
  ]
  const shown = async ({ id }: Resource): Promise<readonly unknown[]> =>
    ((await world.api.get('backends/tunnel_group', id)).tunnels as Resource[]).map((tunnel) => {
      expect(tunnel.uri).toBe(`${world.url}/tunnels/${tunnel.id}`)
      return tunnel.id
    })
  const idOf = ({ tunnels }: { readonly tunnels: readonly { readonly id: string | null }[] }): unknown => tunnels[0]?.id

  const plain = await agents.connect(bear({ app: 'web' }))
  const rich = await agents.connect({
    ...bear({ app: 'web', colour: 'blue', size: 'L' }),
    restartSeconds: 60,
  })
  await agents.connect({ tunnels: [{ domain: 'web.example.org' }, { labels: { application: 'web', colour: 'blue' } }] })
  const stranger = new ApiClient(world.url, await world.admin.seedAccount('stranger'))
  await agents.connect({ ...bear({ app: 'web' }), token: (await stranger.create('credentials', {})).token })

  expect(await shown(web)).toEqual([idOf(plain), idOf(rich)])
  expect(await shown(blue)).toEqual([idOf(rich)])
  expect([await shown(none), await shown(other)]).toEqual([[], []])
  const listed = (await world.api.all('/backends/tunnel_group', 'backends')).find(({ id }) => id === blue.id)
  expect(listed?.tunnels).toEqual([{ id: idOf(rich), uri: `${world.url}/tunnels/${String(idOf(rich))}` }])

  await agents.command(rich.sessionId, 'restart')
  expect([await shown(web), await shown(blue)]).toEqual([[idOf(plain)], []])
  await world.admin.advance(60)
  const again = await agents.get(rich.id)
  expect(idOf(again)).not.toBe(idOf(rich))
  expect(await shown(blue)).toEqual([idOf(again)])

  await world.api.update('backends/tunnel_group', blue.id, { labels: { app: 'web', colour: 'red' } })
  expect(await shown(blue)).toEqual([])
  await agents.disconnect(plain.id)
  await agents.command(String(again.sessionId), 'stop')
  expect(await shown(web)).toEqual([])
})

test('one agent may have many tunnels, of which a backend lists those that match', async () => {
  const [two, one] = [{ labels: { name: 'two', many: 'yes' } }, { labels: { name: 'one', many: 'yes' } }]
  const { tunnels } = await agents.connect({ tunnels: [two, { domain: 'many.example.org' }, one] })
  const all = await world.api.create('backends/tunnel_group', { labels: { many: 'yes' } })
  const first = await world.api.create('backends/tunnel_group', { labels: { name: 'one' } })
  expect((all.tunnels as Resource[]).map(({ id }) => id)).toEqual([tunnels[0]?.id, tunnels[2]?.id])
  expect((first.tunnels as Resource[]).map(({ id }) => id)).toEqual([tunnels[2]?.id])
})

describe('a fleet', () => {
  const create = async (): Promise<Record<string, unknown>> => {
    const { token } = await world.api.create('credentials', {})
    return { token, metadata: 'agent {n}', tunnels: [{ labels: { fleet: 'one', number: '{n}' } }] }
  }

  test(`${stated('agents.bulk')}: the oldest go, the new ones are numbered`, async () => {
    const agent = await create()
    const first = await agents.connectMany({ agent, count: 150 })
    expect(first.disconnected).toBe(0)
    expect(await sessionIds()).toEqual(first.sessions.toReversed())
    const second = await agents.connectMany({ agent, count: 20, disconnect: 30 })
    expect(second.disconnected).toBe(30)
    expect(await sessionIds()).toEqual([...first.sessions.slice(30), ...second.sessions].toReversed())
    const [newest] = await agents.sessions()
    expect(newest?.metadata).toBe('agent 20')
    const group = async (labels: object): Promise<number> =>
      ((await world.api.create('backends/tunnel_group', { labels })).tunnels as unknown[]).length
    expect([await group({ fleet: 'one' }), await group({ number: '7' }), await group({ number: '40' })]).toEqual([
      140, 1, 1,
    ])
    expect(await agents.connectMany({ disconnect: 1000 })).toEqual({ sessions: [], disconnected: 140 })
    expect(await sessionIds()).toEqual([])
  })

  test(`${stated('agents.bulk')}: one that is refused keeps all as they were`, async () => {
    const agent = await create()
    const { sessions } = await agents.connectMany({ agent, count: 3 })
    const { token } = await world.api.create('credentials', { acl: ['bind:number=1', 'bind:number=2', 'bind:fleet=*'] })
    expectRefusal(await agents.tryMany({ agent: { ...agent, token }, count: 3, disconnect: 2 }), 403, 'bind:number=3')
    expectRefusal(await agents.tryMany({ count: 3, disconnect: 2 }), 400, 'agent')
    expect(await sessionIds()).toEqual(sessions.toReversed())
  })
})

test('a snapshot holds the agents, and one that was restarting comes back after it is restored', async () => {
  const admin = new ApiClient(world.url, world.adminToken)
  const group = await world.api.create('backends/tunnel_group', { labels: { kept: 'yes' } })
  const tunnels = [{ labels: { kept: 'yes' } }]
  const [online, away] = [await agents.connect({ tunnels }), await agents.connect({ tunnels, restartSeconds: 600 })]
  await agents.command(away.sessionId, 'restart')
  const snapshot = objectIn(await admin.call('GET', '/_emulator/snapshot'))
  for (const { id } of await agents.all()) await agents.disconnect(id)
  expect((await admin.call('POST', '/_emulator/restore', { body: snapshot })).status).toBe(204)
  expect(await sessionIds()).toEqual([online.sessionId])
  await world.admin.advance(600)
  expect((await agents.get(away.id)).state).toBe('online')
  const { tunnels: listed } = await world.api.get('backends/tunnel_group', group.id)
  expect(listed).toHaveLength(2)
})

test('sessions, tunnels and agents cannot be seeded', async () => {
  const admin = new ApiClient(world.url, world.adminToken)
  for (const path of ['tunnel_sessions', 'tunnels', 'agents']) {
    expectRefusal(await admin.call('POST', '/_emulator/seed', { body: { objects: { [path]: [{}] } } }), 400, 'agents')
  }
})
