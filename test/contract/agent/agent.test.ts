import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../../builders/contract/api-client.ts'
import { CulvertAgent } from '../../builders/contract/culvert-agent.ts'
import type { SshKeyFile } from '../../builders/contract/ssh-agent.ts'
import { answerOf, ask, closed, dial, Upstream } from '../../builders/contract/tcp-peers.ts'
import { type ReachableEdge, startTrafficWorld, type TrafficWorld } from '../../builders/contract/traffic-world.ts'
import { EmulatorProcess } from '../../builders/emulator-process.ts'
import { freePort } from '../../builders/free-port.ts'

/** Long enough for a busy machine. */
const SOON = { timeout: 25_000 }
/** For programs to start, on a busy machine. */
const START_MS = 60_000

let world: TrafficWorld
const running: CulvertAgent[] = []
const upstreams: Upstream[] = []
beforeAll(async () => {
  world = await startTrafficWorld({ keepaliveMs: 300 })
}, START_MS)
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.kill()
  for (const upstream of upstreams.splice(0)) upstream.close()
})
afterAll(() => world.close())

function connect(key: SshKeyFile, ...forwards: readonly string[]): CulvertAgent {
  const agent = CulvertAgent.connect(world.gateway.ssh, key, ...forwards)
  running.push(agent)
  return agent
}

async function serving(upstream: Promise<Upstream>): Promise<Upstream> {
  upstreams.push(await upstream)
  return upstream
}

/** An edge that leads to tunnels with that label. */
async function edgeTo(app: string, on: TrafficWorld = world): Promise<ReachableEdge> {
  const backend = await on.api.create('backends/tunnel_group', { labels: { app } })
  return on.tcpEdge({ backend: { backend_id: backend.id } })
}

describe('connections through an agent', () => {
  test('reach the target of their forward, of which an agent has several', async () => {
    const { key } = await world.newCredential()
    const [shop, api] = [await serving(Upstream.named('shop')), await serving(Upstream.named('api'))]
    const domain = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
    const { addr } = await world.api.create('reserved_addrs', {})
    const [toShop, toAPI] = [await edgeTo('shop'), await edgeTo('api')]
    await connect(
      key,
      `app=shop,version=1=127.0.0.1:${shop.port}`,
      `app=api=localhost:${api.port}`,
      `${domain.domain}:443=127.0.0.1:${shop.port}`,
      `${addr}=127.0.0.1:${api.port}`,
    ).online()
    expect(await ask(toShop, 'one')).toBe('shop:one')
    expect(await ask(toAPI, 'two')).toBe('api:two')
    expect(await ask(await world.listener(String(addr)), 'three')).toBe('api:three')
    const [session] = await world.sessions()
    expect(session).toMatchObject({ transport: 'ssh', agent_version: expect.stringMatching(/^Culvert_\d/) })
  })

  test('carry requests of HTTP, with bodies of megabytes in both directions', async () => {
    const { key } = await world.newCredential()
    const server = createHttpServer((incoming, answer) => incoming.pipe(answer))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
    const edge = await edgeTo('http')
    const agent = await connect(key, `app=http=127.0.0.1:${address.port}`).online()
    const body = Buffer.alloc(8 * 1024 * 1024, 'culvert')
    const answer = await request(`http://${edge.address}:${edge.port}/`, { method: 'POST', body })
    expect(Buffer.from(await answer.body.arrayBuffer()).equals(body)).toBe(true)
    server.closeAllConnections()
    server.close()
    const metrics = (await agent.get('/metrics')).text
    expect(metrics).toContain('culvert_agent_bound 1')
    expect(metrics).toContain('culvert_agent_connections_total{forward="app=http",result="served"} 1')
    const carried = /culvert_agent_bytes_total\{forward="app=http",direction="in"\} (\d+)/.exec(metrics)?.[1]
    expect(Number(carried)).toBeGreaterThan(body.length)
  })

  test('slow a sender down whose reader does not read', { tags: 'nightly' }, async () => {
    const { key } = await world.newCredential()
    const stuck = await serving(Upstream.start((socket) => socket.pause()))
    const edge = await edgeTo('stuck')
    await connect(key, `app=stuck=127.0.0.1:${stuck.port}`).online()
    const client = await dial(edge)
    const chunk = Buffer.alloc(1024 * 1024)
    let sent = 0
    const send = (): void => {
      while (client.write(chunk)) sent += 1
      sent += 1
    }
    client.on('drain', send)
    send()
    await expect.poll(() => stuck.open, SOON).toBe(1)
    // Windows and socket buffers are some megabytes each; a path without back-pressure takes gigabytes.
    const before = async (): Promise<number> => {
      const last = sent
      await new Promise((resolve) => client.once('drain', resolve).setTimeout(1500, () => resolve(undefined)))
      return sent - last
    }
    await expect.poll(before, { ...SOON, timeout: 60_000 }).toBe(0)
    expect(sent).toBeLessThan(64)
    client.destroy()
  })

  test('end when the target is not there, and the agent says which', async () => {
    const { key } = await world.newCredential()
    const port = await freePort()
    const edge = await edgeTo('absent')
    const agent = await connect(key, `app=absent=127.0.0.1:${port}`).online()
    expect(await ask(edge, 'hello')).not.toContain('hello')
    const line = await agent.logged(({ msg }) => msg.includes('cannot be reached'))
    expect(line.msg).toBe(`the target 127.0.0.1:${port} cannot be reached: ECONNREFUSED`)
    expect((await agent.get('/metrics')).text).toContain('{forward="app=absent",result="unreachable"} 1')
  })

  test('may be 200 at once, and 3 where the agent may carry no more', async () => {
    const { key } = await world.newCredential()
    const echo = await serving(Upstream.start((socket) => socket.pipe(socket)))
    const edge = await edgeTo('many')
    const agent = await connect(key, `app=many=127.0.0.1:${echo.port}`).online()
    const clients = await Promise.all(Array.from({ length: 200 }, () => dial(edge)))
    await expect.poll(() => echo.open, SOON).toBe(200)
    const answers = clients.map((client, index) => {
      client.end(`client ${index}`)
      return answerOf(client)
    })
    expect(await Promise.all(answers)).toEqual(clients.map((_client, index) => `client ${index}`))
    await expect
      .poll(async () => (await agent.get('/metrics')).text, SOON)
      .toContain('open_connections{forward="app=many"} 0')
    await agent.kill()

    await connect(key, `app=many=127.0.0.1:${echo.port}`, '--connections 3').online()
    await expect.poll(() => world.sessions(), SOON).toHaveLength(1)
    const few = [await dial(edge), await dial(edge), await dial(edge)]
    await expect.poll(() => echo.open, SOON).toBe(3)
    expect(await ask(edge, 'one more')).not.toBe('one more')
    for (const client of few) client.destroy()
  })
})

describe('an agent says why it has no tunnel', () => {
  test('when the ACL of its credential lacks what it binds, and is not ready', async () => {
    const { key } = await world.newCredential({ acl: ['bind:app=web'] })
    const agent = connect(key, 'app=shop=127.0.0.1:9')
    expect(await agent.failure('BindRefused')).toContain('lacks bind:app=shop')
    expect(await agent.get('/readyz')).toEqual({ status: 503, text: 'failing: forwards\n' })
    expect(await agent.get('/healthz')).toEqual({ status: 200, text: 'ok\n' })
    expect((await agent.get('/metrics')).text).toMatch(/culvert_agent_connects_total\{result="BindRefused"\} [1-9]/)
  })

  test('when no credential has its key', async () => {
    const agent = connect(await world.agents.newKey(), 'app=shop=127.0.0.1:9')
    expect(await agent.failure('KeyRefused')).toMatch(/refuses the key SHA256:\S+: it belongs to no SSH credential/)
  })

  test('when the gateway has another host key, and then shows it no key of its own', async () => {
    const { key } = await world.newCredential()
    const other = await world.agents.newKey()
    const refused = world.log.length
    const agent = CulvertAgent.connect({ ...world.gateway.ssh, hostKey: other.publicKey }, key, 'app=shop=127.0.0.1:9')
    running.push(agent)
    expect(await agent.failure('HostKeyDiffers')).toMatch(/has the host key SHA256:\S+, which is not pinned/)
    const rsa = await world.agents.newKey('rsa')
    const pinned = CulvertAgent.connect({ ...world.gateway.ssh, hostKey: rsa.publicKey }, key, 'app=shop=127.0.0.1:9')
    running.push(pinned)
    expect(await pinned.failure('HostKeyDiffers')).toContain('has no host key of a pinned type')
    expect(world.log.slice(refused).join('\n')).not.toContain('session')
  })

  test('when there is no gateway, no name, or no key', async () => {
    const { key } = await world.newCredential()
    const port = await freePort()
    const at = (place: object): CulvertAgent => {
      const agent = CulvertAgent.connect({ ...world.gateway.ssh, ...place }, key, 'app=shop=127.0.0.1:9')
      running.push(agent)
      return agent
    }
    expect(await at({ port }).failure('GatewayUnreachable')).toContain(
      `127.0.0.1:${port} cannot be reached (ECONNREFUSED)`,
    )
    expect(await at({ host: 'gateway.invalid' }).failure('GatewayUnknown')).toContain('gateway.invalid')
    const keyless = connect({ ...key, path: '/nowhere/key' }, 'app=shop=127.0.0.1:9')
    expect(await keyless.failure('KeyUnreadable')).toContain('/nowhere/key cannot be read (ENOENT)')
  })

  test('and gives up where it is asked to, with the reason for Kubernetes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'culvert-agent-'))
    const log = join(folder, 'termination-log')
    const agent = connect(await world.agents.newKey(), 'app=x=127.0.0.1:9', '--give-up 1s', `--termination-log ${log}`)
    expect(await agent.exited()).toBe(1)
    expect(await readFile(log, 'utf8')).toMatch(/refuses the key SHA256:\S+: it belongs to no SSH credential/)
    await rm(folder, { recursive: true })
  })

  test.each([
    ['a forward', ['--forward', 'app=shop'], '--forward: "shop" is not HOST:PORT'],
    [
      'a host key',
      ['--host-key', 'nonsense', '--forward', 'app=shop=shop:80'],
      '--host-key: "nonsense" is not a public',
    ],
    ['a file', ['--forwards-file', '/nowhere'], '--forwards-file: ENOENT'],
  ])('at once, when %s cannot be read', async (_what, flags, said) => {
    const agent = CulvertAgent.spawn(
      '--gateway',
      'localhost:22',
      '--host-key',
      world.gateway.ssh.hostKey,
      '--key',
      '/key',
      ...flags,
    )
    expect(await agent.exited()).toBe(1)
    expect(agent.said).toContain(said)
  })
})

describe('an agent keeps its tunnels', () => {
  test('when the gateway is killed and returns', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'culvert-agent-'))
    const sshListen = `127.0.0.1:${await freePort()}`
    const options = { data: join(folder, 'emulator.db'), sshListen }
    const first = await startTrafficWorld({}, options)
    const { key } = await first.newCredential()
    await copyFile(key.path, join(folder, 'key'))
    const upstream = await serving(Upstream.named('shop'))
    const agent = CulvertAgent.connect(
      first.gateway.ssh,
      { ...key, path: join(folder, 'key') },
      `app=shop=127.0.0.1:${upstream.port}`,
    )
    running.push(agent)
    await agent.online()
    await first.close()
    await agent.failure('Disconnected')
    expect((await agent.get('/readyz')).status).toBe(503)
    const again = await startTrafficWorld({}, options)
    await expect.poll(() => again.sessions(), SOON).toHaveLength(1)
    expect(await ask(await edgeTo('shop', again), 'back')).toBe('shop:back')
    await again.close()
    await rm(folder, { recursive: true })
  })

  test('when its session is stopped and its key was replaced meanwhile', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'culvert-agent-'))
    const path = join(folder, 'key')
    const former = await world.newCredential()
    await copyFile(former.key.path, path)
    const agent = await connect({ ...former.key, path }, 'app=rotated=127.0.0.1:9').online()
    const next = await world.newCredential()
    await copyFile(next.key.path, path)
    const [session] = await world.sessions()
    await world.api.call('POST', `/tunnel_sessions/${session?.id}/stop`, { body: {} })
    expect(await agent.failure('Disconnected')).toContain('ended the connection: the session was stopped')
    const credentials = async (): Promise<unknown> => (await world.sessions()).map(({ credential }) => credential)
    await expect.poll(credentials, SOON).toEqual([expect.objectContaining({ id: next.credential.id })])
    await rm(folder, { recursive: true })
  })

  test('when the gateway is frozen, and later wakes up', async () => {
    const flags = ['--gateway', '--ssh-listen', '127.0.0.1:0', '--tls-listen', '127.0.0.1:0', '--api-key', 'key']
    const emulator = await EmulatorProcess.start(flags)
    try {
      const key = await world.agents.newKey()
      await new ApiClient(emulator.url, 'key').create('ssh_credentials', { public_key: key.publicKey })
      const shown = /^SSH gateway listening on (\S+):(\d+) with the host key (.*)$/m
      await expect.poll(() => emulator.output, SOON).toMatch(shown)
      const [, host = '', port, hostKey = ''] = shown.exec(emulator.output) ?? []
      const agent = CulvertAgent.connect(
        { host, port: Number(port), hostKey },
        key,
        'app=x=127.0.0.1:9',
        '--keepalive 100ms',
      )
      running.push(agent)
      await agent.online()
      emulator.child.kill('SIGSTOP')
      expect(await agent.failure('GatewaySilent')).toContain('does not respond to keepalives')
      emulator.child.kill('SIGCONT')
      const bound = (): number => agent.log.filter(({ msg }) => msg === 'all forwards are bound').length
      await expect.poll(bound, SOON).toBeGreaterThan(1)
    } finally {
      emulator.child.kill('SIGCONT')
      await emulator.stop('SIGTERM')
    }
  })

  test('when something answers at the address of the gateway that never speaks', { tags: 'nightly' }, async () => {
    const { key } = await world.newCredential()
    const silent = await serving(Upstream.start(() => undefined))
    const agent = CulvertAgent.connect({ ...world.gateway.ssh, port: silent.port }, key, 'app=x=127.0.0.1:9')
    running.push(agent)
    expect(await agent.failure('GatewayUnreachable')).toContain('did not respond in time')
  })
})

describe('an agent that is asked to stop', () => {
  /** A connection through an agent that may drain for that long. */
  async function open(drain: string): Promise<{ agent: CulvertAgent; client: Socket; edge: ReachableEdge }> {
    const { key } = await world.newCredential()
    const upstream = await serving(Upstream.named(drain))
    const edge = await edgeTo(`drain-${drain}`)
    const agent = await connect(key, `app=drain-${drain}=127.0.0.1:${upstream.port}`, `--drain ${drain}`).online()
    const client = await dial(edge)
    await expect.poll(() => upstream.open, SOON).toBe(1)
    return { agent, client, edge }
  }

  test('takes no further connections, and lets those that are open end', async () => {
    const { agent, client, edge } = await open('60s')
    agent.signal('SIGTERM')
    await agent.logged(({ msg }) => msg.startsWith('stopping'))
    expect((await agent.get('/readyz')).status).toBe(503)
    await expect.poll(() => ask(edge, 'late'), SOON).not.toContain('60s:')
    client.end('still here')
    expect(await answerOf(client)).toBe('60s:still here')
    expect(await agent.exited()).toBe(0)
  })

  test('gives up on connections that last too long', async () => {
    const { agent, client } = await open('100ms')
    agent.signal('SIGTERM')
    await closed(client.resume())
    expect(await agent.exited()).toBe(0)
    expect(agent.said).toContain('gave up waiting for open connections')
  })

  test('ends at once while it connects', async () => {
    const agent = connect(await world.agents.newKey(), 'app=shop=127.0.0.1:9')
    await agent.failure('KeyRefused')
    agent.signal('SIGTERM')
    expect(await agent.exited()).toBe(0)
  })
})

test('forwards can be read from a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-agent-'))
  const file = join(folder, 'forwards')
  const { key } = await world.newCredential()
  const upstream = await serving(Upstream.named('file'))
  await writeFile(file, `# of the shop\n\napp=file=127.0.0.1:${upstream.port}\n`)
  const edge = await edgeTo('file')
  await connect(key, `--forwards-file ${file}`).online()
  expect(await ask(edge, 'read')).toBe('file:read')
  await rm(folder, { recursive: true })
})
