import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Resource } from '../../builders/contract/api-client.ts'
import type { SshAgent } from '../../builders/contract/ssh-agent.ts'
import { answerOf, ask, closed, dial, flood, settled, Upstream } from '../../builders/contract/tcp-peers.ts'
import { startTrafficWorld, type TrafficWorld } from '../../builders/contract/traffic-world.ts'
import { freePort } from '../../builders/free-port.ts'

const SOON = { timeout: 20_000, interval: 20 }
/** For programs to start, on a busy machine. */
const START_MS = 60_000

let world: TrafficWorld
let labels = 0
const upstreams: Upstream[] = []
const agents: SshAgent[] = []
const sockets: Socket[] = []
beforeAll(async () => {
  world = await startTrafficWorld({ drainMs: 400, openMs: 1000 })
}, START_MS)
beforeEach(() => {
  labels += 1
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const agent of agents.splice(0)) await agent.stop('SIGKILL')
  for (const upstream of upstreams.splice(0)) upstream.close()
})
afterAll(() => world.close())

/** The value of the label `app` in this test, with a suffix. */
const app = (suffix = ''): string => `shop-${labels}${suffix}`

/** An agent that forwards connections of the label to a server; its tunnel is listed already. */
async function serve(upstream: Upstream, bind = `app=${app()}:1`): Promise<SshAgent> {
  upstreams.push(upstream)
  const { key } = await world.newCredential()
  const agent = await world.online(key, `${bind}:127.0.0.1:${upstream.port}`)
  agents.push(agent)
  return agent
}

const group = (suffix = ''): Promise<Resource> =>
  world.api.create('backends/tunnel_group', { labels: { app: app(suffix) } })

const fixed = ({ api }: TrafficWorld, body: string): Promise<Resource> => api.create('backends/http_response', { body })

const response = (body: string): Promise<Resource> => fixed(world, body)

async function open(...args: Parameters<typeof dial>): Promise<Socket> {
  const socket = await dial(...args)
  sockets.push(socket)
  return socket
}

const GET = 'GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n'

describe('a TCP edge on a reserved address', () => {
  test('carries what the client sends and what the upstream answers, and is journaled', async () => {
    const backend = await group()
    const agent = await serve(await Upstream.named('one'))
    const edge = await world.tcpEdge({ backend: { backend_id: backend.id } })
    expect(edge.address).toMatch(/^127\./)
    expect(edge.port).toBe(Number(edge.hostport.split(':')[1]))
    expect(await ask(edge, 'hello')).toBe('one:hello')
    const [line] = await world.trafficOf(edge.edge)
    expect(line).toMatchObject({ source: '127.0.0.1', verdict: 'served', rule: null, backend: backend.id })
    expect(line).toMatchObject({ bytesIn: 5, bytesOut: 9, end: 'closed', tunnel: expect.stringMatching(/^tn_/) })
    await agent.stop()
  })

  test('carries megabytes in both directions without changing a byte, whatever the speed of the reader', async () => {
    await serve(await Upstream.start((socket) => socket.pipe(socket)))
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    const sent = randomBytes(12 * 1024 * 1024)
    const socket = await open(edge)
    socket.end(sent)
    const received = createHash('sha256')
    let length = 0
    for await (const chunk of socket) {
      if (length === 0) await new Promise((resolve) => setImmediate(resolve))
      received.update(chunk)
      length += chunk.length
    }
    expect(length).toBe(sent.length)
    expect(received.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'))
  })

  test('closes at once when no tunnel serves it, and serves as soon as one does', async () => {
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    expect(await ask(edge, 'hello')).toBe('')
    expect((await world.trafficOf(edge.edge)).at(-1)).toMatchObject({ verdict: 'unserved', tunnel: null })
    await serve(await Upstream.named('one'))
    expect(await ask(edge, 'hello')).toBe('one:hello')
  })

  test('leaves the other direction open when one has ended', async () => {
    const halves: string[] = []
    await serve(
      await Upstream.start((socket) => {
        socket.end('first')
        socket.on('data', (chunk: Buffer) => halves.push(chunk.toString()))
      }),
    )
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    const socket = await open(edge)
    const ended = once(socket, 'end')
    socket.resume()
    await ended
    socket.write('late')
    await expect.poll(() => halves.join(''), SOON).toBe('late')
  })

  test('stops listening when it is deleted, and lets open connections go on for a while', async () => {
    await serve(await Upstream.start((socket) => socket.pipe(socket)))
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    const socket = await open(edge)
    socket.write('before')
    await once(socket, 'data')
    await world.api.remove(`/edges/tcp/${edge.edge.id}`)
    await expect.poll(() => dial(edge).catch((error: NodeJS.ErrnoException) => error.code), SOON).toBe('ECONNREFUSED')
    socket.write('after')
    expect(String((await once(socket, 'data'))[0])).toBe('after')
    await closed(socket)
    expect((await world.trafficOf(edge.edge))[0]).toMatchObject({ verdict: 'served', end: 'cut: the edge is gone' })
  })

  test('does not answer on one port for another edge whose host is the same', async () => {
    const domain = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
    const [first, second] = await Promise.all([response('first'), response('second')])
    for (const [port, backend] of [
      [5432, first],
      [5433, second],
    ] as const) {
      const hostports = [`${domain.domain}:${port}`]
      await world.api.create('edges/tcp', { hostports, backend: { backend_id: backend.id } })
    }
    const places = [await world.listener(`${domain.domain}:5432`), await world.listener(`${domain.domain}:5433`)]
    expect(new Set(places.map(({ address }) => address)).size).toBe(1)
    expect(places.map(({ port }) => port)).toEqual([5432, 5433])
    expect(await Promise.all(places.map((place) => ask(place, GET)))).toEqual([
      expect.stringMatching(/first$/),
      expect.stringMatching(/second$/),
    ])
  })
})

test('two edges can have one port, on domains of their own', async () => {
  const places = await Promise.all(
    ['one', 'two'].map(async (body) => {
      const domain = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
      const hostports = [`${domain.domain}:5432`]
      await world.api.create('edges/tcp', { hostports, backend: { backend_id: (await response(body)).id } })
      return world.listener(`${domain.domain}:5432`)
    }),
  )
  expect(await Promise.all(places.map((place) => ask(place, GET)))).toEqual([
    expect.stringMatching(/one$/),
    expect.stringMatching(/two$/),
  ])
})

describe('a backend', () => {
  test('of a tunnel group lets its tunnels take turns, and leaves one out as soon as it is dead', async () => {
    const first = await serve(await Upstream.named('one'))
    await serve(await Upstream.named('two'))
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    const answers: string[] = []
    for (let count = 0; count < 4; count += 1) answers.push(await ask(edge, ''))
    expect(answers.filter((answer) => answer === 'one:')).toHaveLength(2)
    expect(answers.filter((answer) => answer === 'two:')).toHaveLength(2)
    await first.stop('SIGKILL')
    for (let count = 0; count < 6; count += 1) expect(await ask(edge, '')).toBe('two:')
  })

  test('of a tunnel group does not wait for ever for an agent that is frozen', async () => {
    const first = await serve(await Upstream.named('one'))
    await serve(await Upstream.named('two'))
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    first.freeze()
    for (let count = 0; count < 2; count += 1) expect(await ask(edge, '')).toBe('two:')
  })

  test('whose agent cannot reach its upstream gives way to the next', async () => {
    const gone = await Upstream.named('gone')
    await serve(gone)
    gone.close()
    await serve(await Upstream.named('two'))
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    for (let count = 0; count < 2; count += 1) expect(await ask(edge, '')).toBe('two:')
  })

  test('of failover goes by its order, and back to the first when that returns', async () => {
    const backends = [await group('-a'), await group('-b'), await response('sorry')]
    const failover = await world.api.create('backends/failover', { backends: backends.map(({ id }) => id) })
    const edge = await world.tcpEdge({ backend: { backend_id: failover.id } })
    expect(await ask(edge, GET)).toMatch(/sorry$/)
    await serve(await Upstream.named('b'), `app=${app('-b')}:1`)
    expect(await ask(edge, '')).toBe('b:')
    await serve(await Upstream.named('a'), `app=${app('-a')}:1`)
    expect(await ask(edge, '')).toBe('a:')
  })

  test('that is weighted uses no child of weight 0, and any other when the drawn one is dead', async () => {
    const [dead, never, live] = [await group('-dead'), await response('never'), await response('live')]
    const backends = { [dead.id]: 10_000, [never.id]: 0, [live.id]: 1 }
    const weighted = await world.api.create('backends/weighted', { backends })
    const edge = await world.tcpEdge({ backend: { backend_id: weighted.id } })
    for (let count = 0; count < 5; count += 1) expect(await ask(edge, GET)).toMatch(/live$/)
  })

  test('of a fixed answer gives its status, headers and body', async () => {
    const body = { body: 'closed for today', status_code: 503, headers: { 'X-Shop': 'näh', 'content-length': '1' } }
    const backend = await world.api.create('backends/http_response', body)
    const edge = await world.tcpEdge({ backend: { backend_id: backend.id } })
    const answer = await ask(edge, GET)
    expect(answer).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\nx-shop: näh\r\n/)
    expect(answer).toMatch(/\r\nContent-Length: 16\r\n[\s\S]*\r\n\r\nclosed for today$/i)
  })

  test('that is disabled serves nobody', async () => {
    const backend = await response('hello')
    const edge = await world.tcpEdge({ backend: { backend_id: backend.id } })
    expect(await ask(edge, GET)).toMatch(/hello$/)
    await world.api.update('edges/tcp', edge.edge.id, { backend: { enabled: false, backend_id: backend.id } })
    expect(await ask(edge, GET)).toBe('')
  })
})

test('with one address for all edges, a port belongs to the first that has it, until it is free', async () => {
  const own = await startTrafficWorld({}, { edgeAddress: '127.0.0.1' })
  try {
    const port = await freePort()
    const [first, second] = await Promise.all(
      ['one', 'two'].map(async (body) => {
        const domain = await own.api.create('reserved_domains', { domain: own.serviceDomain() })
        return { hostports: [`${domain.domain}:${port}`], backend: { backend_id: (await fixed(own, body)).id } }
      }),
    )
    const edge = await own.api.create('edges/tcp', first ?? {})
    const place = await own.listener(String(first?.hostports[0]))
    expect(place).toMatchObject({ address: '127.0.0.1', port })
    await own.api.create('edges/tcp', second ?? {})
    await expect
      .poll(async () => (await own.listeners()).map(({ error }) => error), SOON)
      .toEqual([null, expect.stringContaining('EADDRINUSE')])
    expect(await ask(place, GET)).toMatch(/one$/)
    await own.api.remove(`/edges/tcp/${edge.id}`)
    await own.listener(String(second?.hostports[0]))
    expect(await ask(place, GET)).toMatch(/two$/)
  } finally {
    await own.close()
  }
})

describe('one who does not read', () => {
  /** Windows of SSH in the gateway and the agent, and buffers of sockets. */
  const MOST = 32 * 1024 * 1024

  test('at the edge stops what the upstream sends', async () => {
    let sent = (): number => 0
    await serve(
      await Upstream.start((socket) => {
        sent = () => socket.bytesWritten
        flood(socket)
      }),
    )
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    await open(edge)
    expect(await settled(() => sent())).toBeLessThan(MOST)
    expect(sent()).toBeGreaterThan(0)
  })

  test('behind the tunnel stops what the client sends', { tags: 'nightly' }, async () => {
    await serve(await Upstream.start((socket) => socket.pause()))
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    const socket = await open(edge)
    flood(socket)
    expect(await settled(() => socket.bytesWritten)).toBeLessThan(MOST)
  })
})

test('a port that is taken is named, and listened on once it is free', async () => {
  const domain = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
  const first = await world.api.create('edges/tcp', { hostports: [`${domain.domain}:5432`] })
  const { address } = await world.listener(`${domain.domain}:5432`)
  const holder = createServer().listen(5434, address)
  await once(holder, 'listening')
  await world.api.update('edges/tcp', first.id, { hostports: [`${domain.domain}:5432`, `${domain.domain}:5434`] })
  const state = async (): Promise<unknown> =>
    (await world.listeners()).find(({ hostport }) => hostport === `${domain.domain}:5434`)
  await expect.poll(state, SOON).toMatchObject({ port: 5434, error: expect.stringContaining('EADDRINUSE') })
  expect(world.log.at(-1)).toContain(`${domain.domain}:5434 does not listen on ${address}:5434`)
  holder.close()
  await expect.poll(state, SOON).toMatchObject({ port: 5434, error: null })
})

describe('a killed agent', () => {
  test('resets its connections, so that their clients do not take what they have for everything', async () => {
    const agent = await serve(await Upstream.start((socket) => socket.write('part')))
    const edge = await world.tcpEdge({ backend: { backend_id: (await group()).id } })
    const socket = await open(edge)
    await once(socket, 'data')
    const answer = answerOf(socket)
    await agent.stop('SIGKILL')
    expect(await answer).toBe('ECONNRESET')
  })
})

describe('the name that an agent binds itself', () => {
  test('is served without an edge', async () => {
    const { addr } = await world.api.create('reserved_addrs', {})
    const agent = await serve(await Upstream.named('direct'), String(addr))
    const place = await world.listener(String(addr))
    expect(place).toMatchObject({ protocol: 'tcp', edge: null })
    expect(await ask(place, 'hello')).toBe('direct:hello')
    await agent.stop()
    await expect.poll(async () => (await world.listeners()).map(({ hostport }) => hostport), SOON).not.toContain(addr)
  })
})

test('two thousand connections are open at once through one session, and none is left behind', {
  timeout: 2 * START_MS,
  tags: 'nightly',
}, async () => {
  // With the usual limits: on a busy machine an agent takes more than a second for the last of a hundred.
  const own = await startTrafficWorld()
  const upstream = await Upstream.start((socket) => socket.pipe(socket))
  upstreams.push(upstream)
  const { key } = await own.newCredential()
  await own.online(key, `app=shop:1:127.0.0.1:${upstream.port}`)
  const backend = await own.api.create('backends/tunnel_group', { labels: { app: 'shop' } })
  const edge = await own.tcpEdge({ backend: { backend_id: backend.id } })
  const clients: Socket[] = []
  for (let batch = 0; batch < 20; batch += 1) {
    clients.push(...(await Promise.all(Array.from({ length: 100 }, () => open(edge)))))
  }
  const answers = clients.map(async (client, index) => {
    client.write(`client ${index}`)
    return String((await once(client, 'data'))[0])
  })
  expect(await Promise.all(answers)).toEqual(clients.map((_, index) => `client ${index}`))
  expect(upstream.open).toBe(2000)
  for (const client of clients) client.end()
  await Promise.all(clients.map(closed))
  await expect.poll(() => upstream.open, SOON).toBe(0)
  await expect.poll(async () => (await own.trafficOf(edge.edge)).filter(({ end }) => end === null), SOON).toEqual([])
  expect(await own.trafficOf(edge.edge)).toHaveLength(2000)
  await own.close()
})
