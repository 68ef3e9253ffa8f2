import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Resource } from '../../builders/contract/api-client.ts'
import { HostileAgent, type Hostility } from '../../builders/contract/hostile-agent.ts'
import { answerOf, ask, closed, dial, flood, settled, Upstream } from '../../builders/contract/tcp-peers.ts'
import { TrafficProcess } from '../../builders/contract/traffic-process.ts'
import type { ReachableEdge } from '../../builders/contract/traffic-world.ts'

const SOON = { timeout: 30_000, interval: 50 }
/** For programs to start, and for thousands of connections, on a busy machine. */
const LONG_MS = 120_000
const STRANGER = '127.0.0.66'
/**
 * What an attack may cost, in MiB: what each limit allows, and garbage, which a busy machine collects late. Without
 * limits each costs several times of it.
 */
const MOST_MIB = 300

let world: TrafficProcess
let honest: Upstream
let shop: ReachableEdge
const sockets: Socket[] = []
const hostile: HostileAgent[] = []

/** An emulator with an honest OpenSSH agent behind an edge. */
async function start(limits: NonNullable<Parameters<typeof TrafficProcess.start>[0]>['limits'] = {}): Promise<void> {
  world = await TrafficProcess.start({ limits })
  honest = await Upstream.named('shop')
  const { key } = await world.newCredential()
  await world.online(key, `app=shop:1:127.0.0.1:${honest.port}`)
  shop = await edgeFor('shop')
}

beforeEach(() => {
  sockets.length = 0
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const agent of hostile.splice(0)) agent.close()
  honest.close()
  await world.close()
})

async function edgeFor(app: string): Promise<ReachableEdge> {
  const backend: Resource = await world.api.create('backends/tunnel_group', { labels: { app } })
  return world.tcpEdge({ backend: { backend_id: backend.id } })
}

/** A hostile agent behind an edge of its own. */
async function intrude(hostility: Hostility = {}): Promise<{ agent: HostileAgent; edge: ReachableEdge }> {
  const { key } = await world.newCredential()
  const agent = await HostileAgent.connect(world.gateway.ssh, key, 'app=hostile', hostility)
  hostile.push(agent)
  return { agent, edge: await edgeFor('hostile') }
}

async function open(place: ReachableEdge, source?: string): Promise<Socket> {
  const socket = await dial(place, source)
  sockets.push(socket)
  return socket
}

/** A connection to the SSH gateway, from an address of loopback. */
async function knock(source: string): Promise<Socket> {
  const { host, port } = world.gateway.ssh
  const socket = connect({ host, port, localAddress: source })
  sockets.push(socket)
  socket.on('error', () => undefined).resume()
  await once(socket, 'connect')
  return socket
}

const isServed = async (): Promise<void> => expect(await ask(shop, 'hello')).toBe('shop:hello')

/** By how many MiB memory has grown at most while `work` ran. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const { residentMiB } = await world.memory()
  await work()
  return (await world.memory()).peakMiB - residentMiB
}

describe('SSH clients that do not authenticate', () => {
  const HALVES = ['', 'SSH-2.0-half\r\n', `SSH-2.0-half\r\n${'\0\0\x30\0\x04\x14'.padEnd(3000, 'x')}`]

  test('drive out each other by the thousand, and neither an agent nor a stranger from elsewhere', {
    tags: 'nightly',
    timeout: LONG_MS,
  }, async () => {
    await start()
    const patient = await knock('127.0.0.3')
    const growth = await growthDuring(async () => {
      for (let batch = 0; batch < 20; batch += 1) {
        const crowd = await Promise.all(Array.from({ length: 100 }, () => knock(STRANGER)))
        for (const [index, socket] of crowd.entries()) socket.write(HALVES[index % HALVES.length] ?? '')
      }
      const { key } = await world.newCredential()
      await world.online(key, 'app=late:1:127.0.0.1:9')
    })
    expect(growth).toBeLessThan(MOST_MIB)
    expect(patient.closed).toBe(false)
    expect(sockets.filter((socket) => !socket.closed).length).toBeLessThanOrEqual(1 + 32)
    await isServed()
  })

  test('are disconnected after twenty requests', async () => {
    await start()
    const { host, port } = world.gateway.ssh
    const client = new ssh2.Client()
    let requests = 0
    client.on('error', () => undefined)
    client.connect({
      host,
      port,
      username: 'agent',
      authHandler: (_methods, _partial, next) => {
        requests += 1
        next('none')
      },
    })
    await once(client, 'close')
    expect(requests).toBe(21)
    await isServed()
  })
})

test('an OpenSSH client with ten thousand forwards is disconnected, and leaves no tunnel behind', {
  tags: 'nightly',
  timeout: LONG_MS,
}, async () => {
  await start()
  const { key } = await world.newCredential()
  const forwards = Array.from({ length: 10_000 }, (_, index) => `app=many,number=${index}:1:127.0.0.1:9`)
  const growth = await growthDuring(async () => {
    const agent = await world.connect(key, ...forwards)
    await isServed()
    await agent.ended()
  })
  expect(world.log.join('\n')).toContain('a connection has at most 100 forwards')
  expect(growth).toBeLessThan(MOST_MIB)
  const many = await world.api.create('backends/tunnel_group', { labels: { app: 'many' } })
  expect((await world.api.get('backends/tunnel_group', many.id)).tunnels).toEqual([])
  await isServed()
})

test('an account has no more sessions than its share, and one that ends makes room', async () => {
  await start({ sessions: 4, accountSessions: 3 })
  const { key } = await world.newCredential()
  const first = await world.online(key, 'app=more:1:127.0.0.1:9')
  await world.online(key, 'app=more:1:127.0.0.1:9')
  const refused = await world.connect(key, 'app=more:1:127.0.0.1:9')
  expect(await refused.ended()).toContain('there are too many sessions: at most 3 of an account, and 4 in all')
  await first.stop()
  await world.online(key, 'app=more:1:127.0.0.1:9')
  await isServed()
})

describe('an agent', () => {
  test('that grants windows of 4 GiB and reads nothing is sent little, while others are served', {
    timeout: LONG_MS,
    tags: 'nightly',
  }, async () => {
    await start()
    const { agent, edge } = await intrude({ window: 0xffff_ffff })
    const growth = await growthDuring(async () => {
      const clients = await Promise.all(Array.from({ length: 200 }, () => open(edge)))
      for (const client of clients) client.write('hello')
      const taken = async (): Promise<number> =>
        (await world.trafficOf(edge.edge)).filter(({ verdict }) => verdict === 'served').length
      await expect.poll(taken, SOON).toBe(200)
      agent.stopReading()
      for (const client of clients) flood(client)
      await isServed()
      await settled(() => clients.reduce((sum, client) => sum + client.bytesWritten, 0))
    })
    expect(growth).toBeLessThan(MOST_MIB)
    await isServed()
  })

  test(
    'that sends more than its window is disconnected',
    async () => {
      await start()
      const { agent, edge } = await intrude({ take: (accept, self) => void self.overrun(accept()) })
      const growth = await growthDuring(async () => {
        const client = await open(edge)
        client.pause()
        await agent.ended()
      })
      expect(growth).toBeLessThan(MOST_MIB)
      expect(world.log.join('\n')).toContain('sent more than its window')
      await isServed()
    },
    LONG_MS,
  )

  test('that begins an exchange of keys and does not end it is disconnected, and nothing piles up meanwhile', {
    tags: 'nightly',
  }, async () => {
    await start({ handshakeMs: 2000 })
    const { agent, edge } = await intrude({ window: 0xffff_ffff })
    const growth = await growthDuring(async () => {
      const clients = await Promise.all(Array.from({ length: 50 }, () => open(edge)))
      agent.beginExchange()
      for (const client of clients) flood(client)
      await expect.poll(() => world.log.join('\n'), SOON).toContain('did not complete an exchange of keys')
    })
    expect(growth).toBeLessThan(MOST_MIB)
    await isServed()
  })

  test('that asks and does not read the answers is disconnected', { timeout: LONG_MS, tags: 'nightly' }, async () => {
    await start({ pendingBytes: 256 * 1024 })
    const { agent } = await intrude()
    const growth = await growthDuring(async () => {
      agent.stopReading()
      await agent.askForEver()
    })
    expect(growth).toBeLessThan(MOST_MIB)
    await expect.poll(() => world.log.join('\n'), SOON).toContain('does not read what it is sent')
    await isServed()
  })

  test('that answers no request for a connection is asked no more, and its group serves without it', {
    tags: 'nightly',
  }, async () => {
    await start({ openMs: 1000, unanswered: 5 })
    const { edge } = await intrude({ take: () => undefined })
    const { key } = await world.newCredential()
    const asked = await Promise.all(Array.from({ length: 8 }, () => ask(edge, 'hello')))
    expect(asked).toEqual(Array.from({ length: 8 }, () => ''))
    await world.online(key, `app=hostile:1:127.0.0.1:${honest.port}`)
    for (let turn = 0; turn < 4; turn += 1) expect(await ask(edge, 'hello')).toBe('shop:hello')
    const reasons = (await world.trafficOf(edge.edge)).map(({ reason }) => reason)
    expect(reasons).toContainEqual(expect.stringContaining('leaves 5 connections unanswered'))
  })
})

test('three hundred clients that read nothing cost little, and their agent serves others', {
  timeout: LONG_MS,
  tags: 'nightly',
}, async () => {
  await start()
  const endless = await Upstream.start((socket) => flood(socket))
  const { key } = await world.newCredential()
  await world.online(key, `app=endless:1:127.0.0.1:${endless.port}`, `app=honest:1:127.0.0.1:${honest.port}`)
  const [edge, beside] = [await edgeFor('endless'), await edgeFor('honest')]
  let sent = 0
  const growth = await growthDuring(async () => {
    for (let batch = 0; batch < 6; batch += 1) {
      const slow = await Promise.all(Array.from({ length: 50 }, () => open(edge)))
      for (const socket of slow) socket.pause()
    }
    await settled(() => endless.open)
    expect(await ask(beside, 'hello')).toBe('shop:hello')
    sent = endless.open
  })
  expect(sent).toBe(300)
  expect(growth).toBeLessThan(MOST_MIB)
  // One of them that reads after all gets all that it is sent.
  const [late] = sockets
  if (late !== undefined) {
    late.resume()
    await once(late, 'data')
    late.destroy()
    await closed(late)
  }
  endless.close()
  expect(await answerOf(await dialAndEnd(shop))).toBe('shop:')
})

async function dialAndEnd(place: ReachableEdge): Promise<Socket> {
  const socket = await open(place)
  socket.end()
  return socket
}
