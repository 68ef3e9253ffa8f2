import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readProxyHeader } from '../../../src/emulator/gateway/edges/proxy-protocol.ts'
import type { Resource } from '../../builders/contract/api-client.ts'
import { proxyHeader } from '../../builders/contract/proxy-header.ts'
import { answerOf, ask, dial, type Place, Upstream } from '../../builders/contract/tcp-peers.ts'
import { type ReachableEdge, startTrafficWorld, type TrafficWorld } from '../../builders/contract/traffic-world.ts'

const PROXY = '127.0.0.9'
const CLIENT = '203.0.113.7'
/** For programs to start, on a busy machine. */
const START_MS = 60_000

let world: TrafficWorld
let upstream: Upstream
let backend: Resource
const sockets: Socket[] = []
beforeAll(async () => {
  world = await startTrafficWorld({ headerMs: 300 }, { proxies: [`${PROXY}/32`] })
  upstream = await Upstream.start((socket) => {
    socket.write('open:')
    socket.pipe(socket)
  })
  backend = await world.api.create('backends/tunnel_group', { labels: { app: 'shop' } })
  const { key } = await world.newCredential()
  await world.online(key, `app=shop:1:127.0.0.1:${upstream.port}`)
}, START_MS)
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  upstream.close()
  await world.close()
})

/** An edge that admits only that range. */
async function edgeFor(range: string): Promise<{ edge: ReachableEdge; rule: Resource }> {
  const { id } = await world.api.create('ip_policies', {})
  const rule = await world.api.create('ip_policy_rules', { ip_policy_id: id, cidr: range, action: 'allow' })
  const edge = await world.tcpEdge({ backend: { backend_id: backend.id }, ip_restriction: { ip_policy_ids: [id] } })
  return { edge, rule }
}

async function send(place: Place, source: string, ...pieces: readonly (Buffer | string)[]): Promise<Socket> {
  const socket = await dial(place, source)
  sockets.push(socket)
  for (const piece of pieces) socket.write(piece)
  return socket
}

describe('a proxy', () => {
  test('names the client that is judged, and that the journal shows', async () => {
    const { edge } = await edgeFor(`${CLIENT}/32`)
    const socket = await send(edge, PROXY, proxyHeader({ source: CLIENT, sourcePort: 4711 }), 'hello')
    socket.end()
    expect(await answerOf(socket)).toBe('open:hello')
    const [connection] = await world.trafficOf(edge.edge)
    expect(connection).toMatchObject({ source: CLIENT, sourcePort: 4711, proxy: PROXY, verdict: 'served' })
  })

  test('cannot get a client in that the edge does not admit', async () => {
    const { edge } = await edgeFor(`${PROXY}/32`)
    const answer = await answerOf(await send(edge, PROXY, proxyHeader({ source: CLIENT }), 'hello'))
    expect(['', 'ECONNRESET']).toContain(answer)
    expect(await world.trafficOf(edge.edge)).toMatchObject([{ source: CLIENT, verdict: 'refused' }])
  })

  test('is judged by its own address if it connects for nobody', async () => {
    const { edge } = await edgeFor(`${PROXY}/32`)
    const socket = await send(edge, PROXY, proxyHeader({}), 'hello')
    socket.end()
    expect(await answerOf(socket)).toBe('open:hello')
  })

  test('names the client before a handshake too', async () => {
    const edge = await world.tlsEdge({ backend: { backend_id: backend.id } })
    const socket = await send(edge, PROXY, proxyHeader({ source: '2001:db8::7', sourcePort: 1 }))
    const tls = connectTls({ socket, servername: edge.host, ca: await world.rootPem() })
    sockets.push(tls)
    expect(String((await once(tls, 'data'))[0])).toBe('open:')
    expect(await world.trafficOf(edge.edge)).toMatchObject([{ source: '2001:db8:0:0:0:0:0:7', proxy: PROXY }])
  })

  test.each([
    ['sends something else', 'GET / HTTP/1.1\r\n\r\n', 'the client does not speak version 2 of the PROXY protocol'],
    ['says nothing', '', 'the client had not sent the header of a proxy within 300 ms'],
  ])('that %s is not served', async (_what, text, reason) => {
    const { edge } = await edgeFor('0.0.0.0/0')
    const socket = await send(edge, PROXY, ...(text === '' ? [] : [text]))
    expect(['', 'ECONNRESET']).toContain(await answerOf(socket))
    const journal = await world.connections()
    expect(journal.findLast(({ hostport }) => hostport === edge.hostport)).toMatchObject({ verdict: 'failed', reason })
  })

  test('loses a connection when its client is no longer admitted', async () => {
    const { edge, rule } = await edgeFor(`${CLIENT}/32`)
    const socket = await send(edge, PROXY, proxyHeader({ source: CLIENT }))
    expect(String((await once(socket, 'data'))[0])).toBe('open:')
    await world.api.remove(`/ip_policy_rules/${rule.id}`)
    expect(await answerOf(socket)).toBe('ECONNRESET')
  })
})

test('a header from elsewhere names nobody: it is data', async () => {
  const { edge } = await edgeFor(`${CLIENT}/32`)
  const refused = await ask(edge, proxyHeader({ source: CLIENT }).toString('latin1'), '127.0.0.1')
  expect(['', 'ECONNRESET']).toContain(refused)
  expect(await world.trafficOf(edge.edge)).toMatchObject([{ source: '127.0.0.1', proxy: null, verdict: 'refused' }])
  const { edge: open } = await edgeFor('127.0.0.1/32')
  const header = proxyHeader({ source: CLIENT })
  const socket = await send(open, '127.0.0.1', header)
  socket.end()
  expect(await answerOf(socket)).toBe(`open:${header.toString()}`)
})

describe('the header', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6()).filter((text) => ipaddr.isValid(text))
  const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
    fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))

  test('is read as it was written, however much follows, and incomplete before', () => {
    const header = fc.record({ source: address, sourcePort: fc.nat(0xffff), extensions: bytes(100) })
    fc.assert(
      fc.property(
        header,
        bytes(50),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (given, rest, at) => {
          const written = proxyHeader(given)
          const read = readProxyHeader(Buffer.concat([written, rest]))
          expect(read).toMatchObject({ kind: 'found', length: written.length, value: { port: given.sourcePort } })
          const named = read.kind === 'found' ? read.value?.address : undefined
          expect(ipaddr.parse(String(named)).toString()).toBe(ipaddr.parse(given.source).toString())
          expect(readProxyHeader(written.subarray(0, Math.floor(at * written.length)))).toEqual({ kind: 'incomplete' })
        },
      ),
    )
  })

  test('of any other bytes is malformed or incomplete, and never fails', () => {
    fc.assert(
      fc.property(bytes(60), fc.boolean(), (content, hasSignature) => {
        const signature = proxyHeader({}).subarray(0, 12)
        const given = hasSignature ? Buffer.concat([signature, content]) : content
        expect(['found', 'malformed', 'incomplete']).toContain(readProxyHeader(given).kind)
      }),
    )
  })

  test.each([
    ['of another version', 12, 0x11],
    ['with an unknown command', 12, 0x22],
    ['for UDP', 13, 0x12],
    ['for a client of no known family', 13, 0x00],
  ])('%s is malformed', (_what, at, value) => {
    const header = proxyHeader({ source: CLIENT })
    header[at] = value
    expect(readProxyHeader(header)).toEqual({ kind: 'malformed' })
  })

  test('longer than anything sensible is malformed before it has arrived', () => {
    const header = proxyHeader({ source: CLIENT })
    header.writeUInt16BE(0xffff, 14)
    expect(readProxyHeader(header)).toEqual({ kind: 'malformed' })
  })

  test('too short for its addresses is malformed', () => {
    const header = proxyHeader({ source: CLIENT })
    header.writeUInt16BE(8, 14)
    expect(readProxyHeader(header)).toEqual({ kind: 'malformed' })
  })
})
