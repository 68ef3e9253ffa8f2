import { Resolver } from 'node:dns/promises'
import { decode, encode, type Packet, type Question } from 'dns-packet'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hostOf } from '../../../src/emulator/gateway/edges/edge-table.ts'
import { answerTo } from '../../../src/emulator/gateway/edges/name-server.ts'
import type { Resource } from '../../builders/contract/api-client.ts'
import { ask, Upstream } from '../../builders/contract/tcp-peers.ts'
import { startTrafficWorld, type TrafficWorld } from '../../builders/contract/traffic-world.ts'

/** For programs to start, on a busy machine. */
const START_MS = 60_000

let world: TrafficWorld
let upstream: Upstream
let backend: Resource
const resolver = new Resolver()
beforeAll(async () => {
  world = await startTrafficWorld({}, { dnsListen: '127.0.0.1:0' })
  upstream = await Upstream.named('shop')
  backend = await world.api.create('backends/tunnel_group', { labels: { app: 'shop' } })
  const { key } = await world.newCredential()
  await world.online(key, `app=shop:1:127.0.0.1:${upstream.port}`)
  resolver.setServers([`127.0.0.1:${world.gateway.dns?.port}`])
}, START_MS)
afterAll(async () => {
  upstream.close()
  await world.close()
})

describe('the name of an edge', () => {
  test('leads to where the edge listens', async () => {
    const edge = await world.tcpEdge({ backend: { backend_id: backend.id } })
    const [address = ''] = await resolver.resolve4(hostOf(edge.hostport))
    expect(await ask({ address, port: edge.port }, 'hello')).toBe('shop:hello')
  })

  test('leads to the port of TLS edges if they share it', async () => {
    const { host } = await world.tlsEdge({ backend: { backend_id: backend.id } })
    expect(await resolver.resolve4(host)).toEqual(['127.0.0.1'])
    expect(await resolver.resolve4(host.toUpperCase())).toEqual(['127.0.0.1'])
  })

  test('has no address of IPv6, and does not exist without an edge', async () => {
    const { host, edge } = await world.tlsEdge({ backend: { backend_id: backend.id } })
    await expect(resolver.resolve6(host)).rejects.toMatchObject({ code: 'ENODATA' })
    await world.api.remove(`/edges/tls/${edge.id}`)
    await expect(resolver.resolve4(host)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })
})

describe('a query', () => {
  const question = (name: string, type: Question['type']): Question => ({ type, name })
  const answered = (packet: Packet): ReturnType<typeof decode> | undefined => {
    const answer = answerTo(encode(packet), (host) => ({ 'shop.example.com': '127.0.0.7', six: '::1' })[host])
    return answer && decode(answer)
  }

  test.each([
    ['for an address that there is', [question('shop.example.com', 'A')], 'NOERROR', ['127.0.0.7']],
    ['for an address of IPv6', [question('six', 'AAAA')], 'NOERROR', ['::1']],
    ['for another record', [question('shop.example.com', 'TXT')], 'NOERROR', []],
    ['for an unknown name', [question('other.example.com', 'A')], 'NXDOMAIN', []],
    ['with two questions', [question('six', 'A'), question('six', 'AAAA')], 'FORMERR', []],
    ['with no question', [], 'FORMERR', []],
  ] as const)('%s is answered as RFC 1035 has it', (_what, questions, code, data) => {
    const answer = answered({ type: 'query', id: 4711, questions: [...questions] })
    expect(answer).toMatchObject({ type: 'response', id: 4711, rcode: code, flag_aa: true })
    expect(answer?.answers?.map((each) => 'data' in each && each.data)).toEqual(data)
  })

  test('for another service is not implemented, and a response is not answered', () => {
    const questions = [question('six', 'A')]
    expect(answered({ type: 'query', id: 1, flags: 0x2000, questions })).toMatchObject({ rcode: 'NOTIMP' })
    expect(answered({ type: 'response', id: 1, questions })).toBeUndefined()
  })

  test('of any bytes is answered or ignored, and never fails', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        answerTo(Buffer.from(bytes), () => '127.0.0.1')
      }),
    )
  })
})
