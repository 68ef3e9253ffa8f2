import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { selfSigned } from '../../builders/certificate.ts'
import type { Resource } from '../../builders/contract/api-client.ts'
import { type KeyedCertificate, newClientAuthority } from '../../builders/contract/client-certificates.ts'
import { answerOf, askTLS, dial, dialTLS, Upstream } from '../../builders/contract/tcp-peers.ts'
import { type ReachableEdge, startTrafficWorld, type TrafficWorld } from '../../builders/contract/traffic-world.ts'

const SOON = { timeout: 20_000, interval: 20 }

type TlsEdge = ReachableEdge & { readonly host: string }
/** For programs to start, on a busy machine. */
const START_MS = 60_000

let world: TrafficWorld
let root: string
let echo: Upstream
let backend: Resource
const sockets: TLSSocket[] = []
beforeAll(async () => {
  world = await startTrafficWorld({ tlsMs: 2000 })
  root = await world.rootPem()
  echo = await Upstream.start((socket) => socket.pipe(socket))
  backend = await agentFor('echo', echo.port)
}, START_MS)
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  echo.close()
  await world.close()
})

/** A backend whose only tunnel leads to that port. */
async function agentFor(app: string, port: number): Promise<Resource> {
  const { key } = await world.newCredential()
  await world.online(key, `app=${app}:1:127.0.0.1:${port}`)
  return world.api.create('backends/tunnel_group', { labels: { app } })
}

const edgeWith = (body: Readonly<Record<string, unknown>> = {}): Promise<TlsEdge> =>
  world.tlsEdge({ backend: { backend_id: backend.id }, ...body })

interface ClientOptions extends Partial<KeyedCertificate> {
  readonly servername?: string
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3'
}

/** A client that trusts the emulator's authority. Rejects when the handshake fails. */
async function handshake(edge: TlsEdge, options: ClientOptions = {}): Promise<TLSSocket> {
  const socket = await dialTLS(edge, { servername: edge.host, ca: root, ...options })
  sockets.push(socket)
  return socket
}

/** What is echoed to a client of the edge; the code of the error if it is refused. */
function echoed(edge: TlsEdge, text: string, options: ClientOptions = {}): Promise<string> {
  return askTLS(edge, text, { servername: edge.host, ca: root, ...options })
}

const lastOf = async ({ edge }: TlsEdge): Promise<unknown> => (await world.trafficOf(edge)).at(-1)

describe('a TLS edge', () => {
  test('ends TLS with a certificate for its domain, which the root of the admin surface has issued', async () => {
    const edge = await edgeWith()
    const socket = await handshake(edge)
    expect(socket.authorized).toBe(true)
    expect(socket.getPeerCertificate().subjectaltname).toBe(`DNS:${edge.host}`)
    socket.end('hello')
    expect(await answerOf(socket)).toBe('hello')
    await expect.poll(() => lastOf(edge), SOON).toMatchObject({ verdict: 'served', backend: backend.id, end: 'closed' })
    const [line] = await world.trafficOf(edge.edge)
    expect(line?.bytesIn).toBeGreaterThanOrEqual(5)
    expect(line?.bytesOut).toBeGreaterThanOrEqual(5)
  })

  test('is found by the name in the handshake alone', async () => {
    const fixed = await world.api.create('backends/http_response', { body: 'second' })
    const [first, second] = [await edgeWith(), await world.tlsEdge({ backend: { backend_id: fixed.id } })]
    expect([first.address, first.port]).toEqual([second.address, second.port])
    expect(await echoed(first, 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^GET/)
    const answer = await echoed(second, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(answer).toMatch(/second$/)
    const nobody = { ...first, host: 'nobody.tunnel.example' }
    expect(await echoed(nobody, 'hello')).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME')
  })

  test('refuses versions below its minimum, by default below 1.2', async () => {
    const edge = await edgeWith({ tls_termination: { min_version: '1.3' } })
    expect(await echoed(edge, 'hello', { maxVersion: 'TLSv1.3' })).toBe('hello')
    expect(await echoed(edge, 'hello', { maxVersion: 'TLSv1.2' })).toMatch(/PROTOCOL_VERSION/)
    expect(await lastOf(edge)).toMatchObject({ verdict: 'failed', tunnel: null })
    expect(await echoed(await edgeWith(), 'hello', { maxVersion: 'TLSv1.2' })).toBe('hello')
  })

  test('is understood by openssl, which verifies the chain', async () => {
    const edge = await edgeWith()
    const folder = await mkdtemp(join(tmpdir(), 'culvert-root-'))
    const file = join(folder, 'root.pem')
    await writeFile(file, root)
    const to = ['-connect', `${edge.address}:${edge.port}`, '-servername', edge.host, '-verify_hostname', edge.host]
    const child = spawn('openssl', ['s_client', ...to, '-CAfile', file, '-brief'], { stdio: ['pipe', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString()
      })
    }
    child.stdin.end()
    await once(child, 'close')
    await rm(folder, { recursive: true })
    expect(said).toContain('Verification: OK')
    expect(said).toContain(`Verified peername: ${edge.host}`)
  })

  test('of a custom domain needs a certificate, which the management of the domain provides', async () => {
    const domain = await world.api.create('reserved_domains', { domain: world.customDomain() })
    const hostport = `${domain.domain}:443`
    const edge = await world.api.create('edges/tls', { hostports: [hostport], backend: { backend_id: backend.id } })
    const { address, port } = await world.listener(hostport)
    const reachable = { edge, hostport, host: String(domain.domain), address, port }
    expect(await echoed(reachable, 'hello')).toMatch(/HANDSHAKE_FAILURE/)
    const refused = { verdict: 'failed', reason: 'the domain has no certificate', backend: null, tunnel: null }
    expect(await lastOf(reachable)).toMatchObject(refused)
    await world.admin.addDnsRecord({ name: String(domain.domain), type: 'CNAME', value: String(domain.cname_target) })
    const policy = { authority: 'letsencrypt', private_key_type: 'rsa' }
    await world.api.update('reserved_domains', domain.id, { certificate_management_policy: policy })
    await world.admin.advance(10)
    const socket = await handshake(reachable)
    expect(socket.getPeerCertificate()).toMatchObject({ bits: 2048, subjectaltname: `DNS:${domain.domain}` })
  })
})

test('TLS passes through to the upstream, whose own certificate the client sees', async () => {
  const certificate = selfSigned()
  const server = createServer(certificate, (socket) => socket.end('from the upstream')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const own = await agentFor('own-tls', typeof address === 'object' && address !== null ? address.port : 0)
  const edge = await world.tlsEdge({
    backend: { backend_id: own.id },
    tls_termination: { terminate_at: 'upstream' },
  })
  const client = connect({ host: edge.address, port: edge.port, servername: edge.host, rejectUnauthorized: false })
  await once(client, 'secureConnect')
  expect(client.getPeerX509Certificate()?.toString()).toBe(certificate.cert.replace(/\n\n/g, '\n'))
  expect(await answerOf(client)).toBe('from the upstream')
  expect(await lastOf(edge)).toMatchObject({ verdict: 'served', backend: own.id })
  server.close()
})

test('the name of a domain that an agent binds itself passes through', async () => {
  const server = createServer(selfSigned(), (socket) => socket.end('bound')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const { domain } = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
  const { key } = await world.newCredential()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await world.online(key, `${domain}:443:127.0.0.1:${port}`)
  const place = await world.listener(`${domain}:443`)
  expect(place).toMatchObject({ protocol: 'tls', edge: null })
  const client = connect({
    host: place.address,
    port: place.port,
    servername: String(domain),
    rejectUnauthorized: false,
  })
  await once(client, 'secureConnect')
  expect(await answerOf(client)).toBe('bound')
  server.close()
})

describe('mutual TLS', () => {
  test('admits clients of the uploaded authorities and nobody else', async () => {
    const [partner, stranger] = [await newClientAuthority('Partner'), await newClientAuthority('Stranger')]
    const authority = await world.api.create('certificate_authorities', { ca_pem: partner.caPem })
    const edge = await edgeWith({ mutual_tls: { certificate_authority_ids: [authority.id] } })
    expect(await echoed(edge, 'hello', partner.client)).toBe('hello')
    for (const options of [{}, stranger.client]) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        expect(await echoed(edge, 'hello', { ...options, maxVersion })).not.toBe('hello')
        await expect.poll(() => lastOf(edge), SOON).toMatchObject({ verdict: 'failed', tunnel: null })
      }
    }
  })

  test('leaves connections alone, open or in a handshake, while what vouches for the client stays', async () => {
    const [partner, other] = [await newClientAuthority('Partner'), await newClientAuthority('Other')]
    const trusted = await world.api.create('certificate_authorities', { ca_pem: partner.caPem })
    const both = await world.api.create('certificate_authorities', { ca_pem: `${other.caPem}${partner.caPem}` })
    const edge = await edgeWith({ mutual_tls: { certificate_authority_ids: [trusted.id] } })
    for (let round = 0; round < 10; round += 1) {
      const open = await handshake(edge, partner.client)
      const early = echoed(edge, 'early', partner.client)
      const ids = [round % 2 === 0 ? both.id : trusted.id]
      await world.api.update('edges/tls', edge.edge.id, { mutual_tls: { certificate_authority_ids: ids } })
      open.end('hello')
      expect([await answerOf(open), await early]).toEqual(['hello', 'early'])
    }
    expect(await echoed(edge, 'hello', other.client)).not.toBe('hello')
  })

  test('cuts open connections when it comes to trust another authority', async () => {
    const [partner, other] = [await newClientAuthority('Partner'), await newClientAuthority('Other')]
    const [trusted, next] = [
      await world.api.create('certificate_authorities', { ca_pem: partner.caPem }),
      await world.api.create('certificate_authorities', { ca_pem: other.caPem }),
    ]
    const edge = await edgeWith({ mutual_tls: { certificate_authority_ids: [trusted.id] } })
    const socket = await handshake(edge, partner.client)
    socket.write('hello')
    await once(socket, 'data')
    const both = { mutual_tls: { certificate_authority_ids: [trusted.id, next.id] } }
    await world.api.call('PATCH', `/edges/tls/${edge.edge.id}`, { body: both })
    socket.write('again')
    expect(String((await once(socket, 'data'))[0])).toBe('again')
    const answer = answerOf(socket)
    await world.api.call('PATCH', `/edges/tls/${edge.edge.id}`, {
      body: { mutual_tls: { certificate_authority_ids: [next.id] } },
    })
    await answer
    expect(await lastOf(edge)).toMatchObject({ verdict: 'served', end: 'cut: mutual_tls changed' })
  })
})

test('a client that speaks no TLS, or nothing, is not kept for long', { tags: 'nightly' }, async () => {
  const { address, port } = await edgeWith()
  const talker = await dial({ address, port })
  talker.write('GET / HTTP/1.1\r\n\r\n')
  expect(['', 'ECONNRESET']).toContain(await answerOf(talker))
  const silent = await dial({ address, port })
  expect(['', 'ECONNRESET']).toContain(await answerOf(silent))
})
