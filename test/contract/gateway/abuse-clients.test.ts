import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../../builders/contract/api-client.ts'
import { proxyHeader } from '../../builders/contract/proxy-header.ts'
import { answerOf, closed, dial, type Place, Upstream } from '../../builders/contract/tcp-peers.ts'
import { TrafficProcess } from '../../builders/contract/traffic-process.ts'
import type { ReachableEdge } from '../../builders/contract/traffic-world.ts'

const SOON = { timeout: 30_000, interval: 50 }
/** For programs to start, and for thousands of connections, on a busy machine. */
const LONG_MS = 120_000
const STRANGER = '127.0.0.66'
const PROXY = '127.0.0.9'
/**
 * What an attack may cost, in MiB: what each limit allows, and garbage, which a busy machine collects late. Without
 * limits each costs several times of it.
 */
const MOST_MIB = 300

type TlsEdge = ReachableEdge & { readonly host: string }

let world: TrafficProcess
let root: string
let upstream: Upstream
let backend: Resource
let shop: TlsEdge
const sockets: Socket[] = []
beforeAll(async () => {
  const limits = { tlsMs: 3000, headerMs: 1000, sourceConnections: 500 }
  world = await TrafficProcess.start({ limits, proxies: [`${PROXY}/32`] })
  root = await world.rootPem()
  upstream = await Upstream.named('shop')
  const { key } = await world.newCredential()
  await world.online(key, `app=shop:1:127.0.0.1:${upstream.port}`)
  backend = await world.api.create('backends/tunnel_group', { labels: { app: 'shop' } })
  shop = await world.tlsEdge({ backend: { backend_id: backend.id } })
}, LONG_MS)
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(sockets.splice(0).map((socket) => socket.closed || once(socket, 'close')))
})
afterAll(async () => {
  upstream.close()
  await world.close()
})

async function open(place: Place, source = STRANGER): Promise<Socket> {
  const socket = await dial(place, source)
  sockets.push(socket)
  return socket
}

/** What an honest client of the edge is answered. */
async function shopping(): Promise<string> {
  const { address: host, port } = shop
  const socket = connectTls({ host, port, servername: shop.host, ca: root })
  await once(socket, 'secureConnect')
  socket.end('hello')
  return await answerOf(socket)
}

const isServed = async (): Promise<void> => expect(await shopping()).toBe('shop:hello')

/** By how many MiB memory has grown at most while `work` ran. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const { residentMiB } = await world.memory()
  await work()
  return (await world.memory()).peakMiB - residentMiB
}

/** `openssl s_client` at the edge, which writes what it sees to its output. */
function client(...args: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<string> } {
  const { address, port } = shop
  const child = spawn('openssl', ['s_client', '-connect', `${address}:${port}`, ...args])
  child.stdin.on('error', () => undefined)
  let said = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return { child, ended: once(child, 'close').then(() => said) }
}

/** The first record of a handshake that is said to be longer than it is. */
const ENDLESS = Buffer.concat([Buffer.of(22, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xfb, 3, 3), Buffer.alloc(12_000)])

describe('names in a handshake', () => {
  test.each([
    ['that no edge has', ['-servername', 'nobody.example.org']],
    ['that are none', ['-servername', '../../etc/passwd']],
    ['that are missing', ['-noservername']],
    ['of 250 characters', ['-servername', `${'a'.repeat(60)}.`.repeat(4).slice(0, 250)]],
  ])('%s are refused with an alert or at once', async (_what, args) => {
    const { child, ended } = client(...args)
    child.stdin?.end()
    expect(await ended).toMatch(/unrecognized name|no peer certificate available/)
    await isServed()
  })

  test('that never end cost little, are given up, and leave room for others', {
    tags: 'nightly',
    timeout: LONG_MS,
  }, async () => {
    const growth = await growthDuring(async () => {
      const crowd: Socket[] = []
      for (let batch = 0; batch < 5; batch += 1) {
        crowd.push(...(await Promise.all(Array.from({ length: 100 }, () => open(shop)))))
      }
      for (const socket of crowd) socket.write(ENDLESS)
      await isServed()
      await Promise.all(crowd.map(answerOf))
    })
    expect(growth).toBeLessThan(MOST_MIB)
    const journal = await world.connections()
    expect(journal.findLast(({ source }) => source === STRANGER)?.reason).toContain('within 3000 ms')
  })
})

test(
  'one source that opens more connections than its share leaves room for others',
  async () => {
    // No deadline ends its connections, however long it takes to open them.
    const edge = await world.tcpEdge({ backend: { backend_id: backend.id } })
    const crowd = await Promise.all(Array.from({ length: 800 }, () => open(edge)))
    for (const socket of crowd) socket.resume()
    await expect.poll(() => crowd.filter(({ closed, readableEnded }) => closed || readableEnded).length, SOON).toBe(300)
    await isServed()
  },
  LONG_MS,
)

test('a client that wants to renegotiate TLS is refused, and others are served', async () => {
  const { child, ended } = client('-servername', shop.host, '-tls1_2')
  // `R` at the beginning of a line asks `s_client` to renegotiate, once the handshake is complete.
  child.stdout?.once('data', () => child.stdin?.write('R\n'))
  expect(await ended).toMatch(/RENEGOTIATING[\s\S]*no renegotiation/)
  await isServed()
})

test('requests for a fixed answer whose answers nobody reads end their connection, and pile up nowhere', {
  tags: 'nightly',
  timeout: LONG_MS,
}, async () => {
  const body = { body: 'x'.repeat(64 * 1024), status_code: 200 }
  const fixed = await world.api.create('backends/http_response', body)
  const edge = await world.tcpEdge({ backend: { backend_id: fixed.id } })
  const requests = Buffer.from('GET / HTTP/1.1\r\nHost: shop\r\n\r\n'.repeat(2000))
  const growth = await growthDuring(async () => {
    const crowd = await Promise.all(Array.from({ length: 50 }, () => open(edge)))
    for (const socket of crowd) {
      const ask = (): void => {
        while (socket.writable && socket.write(requests));
        socket.once('drain', ask)
      }
      socket.pause()
      ask()
    }
    await Promise.all(crowd.map(closed))
    await isServed()
  })
  // All answers to what is sent at once would take 7 GiB; the requests themselves are garbage of some 4 MiB each.
  expect(growth).toBeLessThan(1.5 * MOST_MIB)
})

describe('headers of the PROXY protocol', () => {
  test.each([
    ['of version 2', proxyHeader({ source: '203.0.113.7' })],
    ['of version 1', Buffer.from('PROXY TCP4 203.0.113.7 127.0.0.1 4711 443\r\n')],
  ])('%s from those who may not send them are no TLS, and their client is who connects', async (_what, header) => {
    const socket = await open(shop)
    socket.write(header)
    expect(['', 'ECONNRESET']).toContain(await answerOf(socket))
    const line = (await world.connections()).findLast(({ source }) => source === STRANGER)
    expect(line).toMatchObject({ proxy: null, verdict: 'failed', reason: 'the client does not speak TLS' })
    await isServed()
  })

  test('that a proxy begins and does not end are given up, and others are served', async () => {
    const header = proxyHeader({ source: '203.0.113.7' })
    const crowd = await Promise.all(Array.from({ length: 200 }, () => open(shop, PROXY)))
    for (const socket of crowd) socket.write(header.subarray(0, 14))
    await isServed()
    for (const answer of await Promise.all(crowd.map(answerOf))) expect(['', 'ECONNRESET']).toContain(answer)
  })
})

test('every port of a TLS host with several is served', async () => {
  const { domain } = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
  const hostports = [`${domain}:443`, `${domain}:8443`, `${domain}:9443`]
  await world.api.create('edges/tls', { hostports, backend: { backend_id: backend.id } })
  for (const hostport of hostports) {
    const { address: host, port } = await world.listener(hostport)
    const socket = connectTls({ host, port, servername: String(domain), ca: root })
    await once(socket, 'secureConnect')
    socket.end('hello')
    expect(await answerOf(socket)).toBe('shop:hello')
  }
})
