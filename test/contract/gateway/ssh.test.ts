import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { refTo } from '../../builders/contract/api-client.ts'
import { KEY_TYPES, type SshAgent } from '../../builders/contract/ssh-agent.ts'
import { startTrafficWorld, type TrafficWorld } from '../../builders/contract/traffic-world.ts'
import { EmulatorProcess } from '../../builders/emulator-process.ts'

/** Long enough for a busy machine. */
const SOON = { timeout: 20_000 }
/** For programs to start, on a busy machine. */
const START_MS = 60_000

let world: TrafficWorld
const connected: SshAgent[] = []
beforeAll(async () => {
  world = await startTrafficWorld({ keepaliveMs: 300, handshakeMs: 3000, handshakes: 5, binds: 3 })
}, START_MS)
afterEach(async () => {
  for (const agent of connected.splice(0)) await agent.stop()
  await expect.poll(() => world.sessions(), SOON).toEqual([])
})
afterAll(() => world.close())

async function connectAgent(...args: Parameters<TrafficWorld['connect']>): Promise<SshAgent> {
  const agent = await world.connect(...args)
  connected.push(agent)
  return agent
}

const forward = (bind: string): string => `${bind}:127.0.0.1:9`

describe('a session of an OpenSSH client', () => {
  test('is listed with its credential, address and version, and ends with the client', async () => {
    const { key, credential } = await world.newCredential()
    const agent = await connectAgent(key, forward('app=shop:1'))
    await expect.poll(() => world.sessions(), SOON).toHaveLength(1)
    const [session] = await world.sessions()
    expect(session).toMatchObject({ credential: refTo(credential), ip: '127.0.0.1', transport: 'ssh', region: 'us' })
    expect(session?.agent_version).toMatch(/^OpenSSH_\d/)
    expect(Math.abs(Date.parse(String(session?.started_at)) - Date.now())).toBeLessThan(60_000)
    await agent.stop()
    await expect.poll(() => world.sessions(), SOON).toEqual([])
  })

  test('has a tunnel for each forward, which backends with its labels list', async () => {
    const { key } = await world.newCredential()
    const shop = await world.api.create('backends/tunnel_group', { labels: { app: 'shop' } })
    const second = await world.api.create('backends/tunnel_group', { labels: { app: 'shop', version: '2' } })
    const tunnels = async (id: string): Promise<unknown> => (await world.api.get('backends/tunnel_group', id)).tunnels
    await connectAgent(key, forward('app=shop,version=1:1'), forward('app=shop,version=2:1'))
    await expect.poll(() => tunnels(shop.id), SOON).toHaveLength(2)
    expect(await tunnels(second.id)).toHaveLength(1)
  })

  test('ends with the stop command, which the client learns', async () => {
    const { key } = await world.newCredential()
    const agent = await connectAgent(key, forward('app=shop:1'))
    await expect.poll(() => world.sessions(), SOON).toHaveLength(1)
    const [session] = await world.sessions()
    const answer = await world.api.call('POST', `/tunnel_sessions/${session?.id}/stop`, { body: {} })
    expect(answer.status).toBe(204)
    expect(await agent.ended()).toContain('the session was stopped')
  })

  test('ends when the client is frozen', async () => {
    const { key } = await world.newCredential()
    const agent = await connectAgent(key, forward('app=shop:1'))
    await expect.poll(() => world.sessions(), SOON).toHaveLength(1)
    agent.freeze()
    await expect.poll(() => world.sessions(), SOON).toEqual([])
    await agent.stop('SIGKILL')
  })
})

test.each(Object.keys(KEY_TYPES) as (keyof typeof KEY_TYPES)[])('a key of type %s starts a session', async (type) => {
  const key = await world.agents.newKey(type)
  await world.api.create('ssh_credentials', { public_key: key.publicKey })
  await connectAgent(key, forward('app=shop:1'))
  await expect.poll(() => world.sessions(), SOON).toHaveLength(1)
})

describe('no session is started', () => {
  test('by a key that no credential has', async () => {
    const agent = await connectAgent(await world.agents.newKey(), forward('app=shop:1'))
    expect(await agent.ended()).toContain('Permission denied (publickey)')
    expect(world.log.join('\n')).toContain('no SSH credential has the key SHA256:')
  })

  test('by the key of a bot user that is not active', async () => {
    const bot = await world.api.create('bot_users', { name: 'agents' })
    const { key, credential } = await world.newCredential({ owner_id: bot.id })
    await world.api.update('bot_users', bot.id, { active: false })
    expect(await (await connectAgent(key, forward('app=shop:1'))).ended()).toContain('Permission denied')
    expect(world.log.join('\n')).toContain(`the bot user that owns ${credential.id} is not active`)
  })

  test('from an address that an enforced restriction of type agent does not admit', async () => {
    const policy = await world.api.create('ip_policies', {})
    const body = { type: 'agent', enforced: true, ip_policy_ids: [policy.id] }
    const restriction = await world.api.create('ip_restrictions', body)
    const { key } = await world.newCredential()
    expect(await (await connectAgent(key, forward('app=shop:1'))).ended()).toContain('Permission denied')
    expect(world.log.join('\n')).toContain(restriction.id)
    await world.api.remove(`/ip_restrictions/${restriction.id}`)
  })

  test('in the account of a stranger who has registered the same key', async () => {
    const { key, credential } = await world.newCredential()
    await world.strangerWithKey(key)
    await connectAgent(key, forward('app=shop:1'))
    await expect.poll(() => world.sessions(), SOON).toHaveLength(1)
    expect((await world.sessions())[0]?.credential).toEqual(refTo(credential))
  })
})

describe('a forward', () => {
  test.each([
    ['labels that the ACL lacks', ['bind:app=web'], 'app=shop:1', 'lacks bind:app=shop'],
    ['labels of which the ACL lacks one', ['bind:app=*'], 'app=shop,version=1:1', 'lacks bind:version=1'],
    ['no name', [], '8080', 'must be labels'],
    ['a domain that is not reserved', [], 'nobody.example.org:443', 'nobody.example.org:443 is not reserved'],
    ['an address that is not reserved', [], 'nobody.example.org:444', 'nobody.example.org:444 is not reserved'],
  ])('of %s ends the client with the reason', async (_what, acl, bind, reason) => {
    const { key } = await world.newCredential({ acl })
    expect(await (await connectAgent(key, forward(bind))).ended()).toContain(reason)
  })

  test('of a reserved domain or address is a tunnel where the ACL permits it', async () => {
    const domain = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
    const { addr } = await world.api.create('reserved_addrs', {})
    const { key } = await world.newCredential({ acl: [`bind:${domain.domain}`, `bind:${addr}`] })
    await connectAgent(key, forward(`${domain.domain}:443`), forward(String(addr)))
    await expect.poll(() => world.log.join('\n'), SOON).toContain(`"${domain.domain}":443 is tunnel tn_`)
    await expect
      .poll(() => world.log.join('\n'), SOON)
      .toMatch(new RegExp(`forward .*${String(addr).split(':')[1]} is`))
  })

  test('beyond the most of a connection ends the client with the reason', async () => {
    const { key } = await world.newCredential()
    const agent = await connectAgent(key, ...[1, 2, 3, 4].map((port) => forward(`app=shop:${port}`)))
    expect(await agent.ended()).toContain('a connection has at most 3 forwards')
  })

  test('with port 0 is given a port, and works like any other', async () => {
    const { key } = await world.newCredential()
    await connectAgent(key, forward('app=port-0:0'), forward('app=port-0,version=1:0'))
    const tunnels = (): readonly string[] => world.log.filter((line) => /"app=port-0.*":0 is tunnel/.test(line))
    await expect.poll(tunnels, SOON).toHaveLength(2)
  })
})

describe('a client that does not authenticate', () => {
  const silent = async (): Promise<{ closed: Promise<unknown> }> => {
    const { host, port } = world.gateway.ssh
    const socket = connect(port, host).on('error', () => undefined)
    socket.resume()
    const closed = once(socket, 'close')
    await once(socket, 'connect')
    return { closed }
  }

  test('is disconnected after a while', { tags: 'nightly' }, async () => {
    const { closed } = await silent()
    await closed
  })

  test('gives way to others when there are many', { tags: 'nightly' }, async () => {
    const { key } = await world.newCredential()
    const waiting: Promise<unknown>[] = []
    for (let count = 0; count < 20; count += 1) waiting.push((await silent()).closed)
    await connectAgent(key, forward('app=shop:1'))
    await expect.poll(() => world.sessions(), SOON).toHaveLength(1)
    await Promise.all(waiting)
  })
})

test(
  'the flags of the command start a gateway, which it prints, and belong to --gateway',
  async () => {
    const flags = [
      '--gateway',
      '--ssh-listen',
      '127.0.0.1:0',
      '--tls-listen',
      '127.0.0.1:0',
      '--edge-address',
      '127.0.0.1',
    ]
    const emulator = await EmulatorProcess.start(flags)
    try {
      await expect
        .poll(() => emulator.output, SOON)
        .toMatch(/^SSH gateway listening on 127.0.0.1:\d+ with .* ssh-ed25519 /m)
      await expect.poll(() => emulator.output, SOON).toMatch(/^TLS edges listening on 127.0.0.1:\d+;/m)
      const [, taken] = /^SSH gateway listening on (\S+)/m.exec(emulator.output) ?? []
      await expect(EmulatorProcess.start(['--gateway', '--ssh-listen', String(taken)])).rejects.toThrow(
        `address already in use ${taken}; choose another address with --listen, --ssh-listen, --tls-listen or --dns-listen`,
      )
    } finally {
      expect(await emulator.stop('SIGTERM')).toBe(0)
    }
    await expect(EmulatorProcess.start(['--ssh-listen', '127.0.0.1:0'])).rejects.toThrow('--ssh-listen needs --gateway')
    await expect(EmulatorProcess.start(['--gateway', '--edge-address', 'here'])).rejects.toThrow('IP address here')
  },
  2 * START_MS,
)

test('a reset of the emulator ends every client, and the same key is then unknown', async () => {
  const own = await startTrafficWorld()
  try {
    const { key } = await own.newCredential()
    const agent = await own.online(key, forward('app=shop:1'))
    await own.reset()
    expect(await agent.ended()).toContain('the session was stopped')
    expect(await own.sessions()).toEqual([])
    expect(await (await own.connect(key, forward('app=shop:1'))).ended()).toContain('Permission denied')
  } finally {
    await own.close()
  }
})

test('the host key and nothing of a killed client is found again with the same data file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-gateway-'))
  const data = join(folder, 'emulator.db')
  const first = await startTrafficWorld({}, { data })
  const { key } = await first.newCredential()
  await first.connect(key, forward('app=shop:1'))
  await expect.poll(() => first.sessions(), SOON).toHaveLength(1)
  const { hostKey } = first.gateway.ssh
  await first.close()
  const again = await startTrafficWorld({}, { data })
  expect(again.gateway.ssh.hostKey).toBe(hostKey)
  expect(await again.sessions()).toEqual([])
  await again.close()
  await rm(folder, { recursive: true })
})
