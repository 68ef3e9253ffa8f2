import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createPlainServer } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readEnvironment } from '../../../src/config.ts'
import { createKubeClient } from '../../../src/kube/client.ts'
import { loadKubeConnection } from '../../../src/kube/load-config.ts'
import type { ResourceType } from '../../../src/kube/types.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { selfSigned } from '../../builders/certificate.ts'
import { FakeClock } from '../../builders/fake-clock.ts'

const edges: ResourceType = {
  group: 'culvert.dev',
  version: 'v1alpha1',
  plural: 'edges',
  kind: 'Edge',
  namespaced: true,
}
const key = { namespace: 'shop', name: 'front' }

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-kubeconfig-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

interface Parts {
  readonly cluster?: Record<string, unknown>
  readonly user?: Record<string, unknown> | undefined
}

async function kubeconfig({ cluster, user }: Parts): Promise<string> {
  const path = join(folder, 'config')
  const context = { cluster: 'c', namespace: 'system', ...(user === undefined ? {} : { user: 'u' }) }
  const document = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/', ...cluster } }],
    users: user === undefined ? [] : [{ name: 'u', user }],
    contexts: [{ name: 'main', context }],
    'current-context': 'main',
  }
  await writeFile(path, stringify(document))
  return path
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** A proxy for https that leads every tunnel to one port of this machine. */
async function connectProxy(port: number) {
  const asked: string[] = []
  const proxy = createPlainServer()
  proxy.on('connect', ({ url }, client: Socket) => {
    asked.push(url ?? '')
    const upstream = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const close = async () => {
    proxy.close()
    proxy.closeAllConnections()
    await once(proxy, 'close')
  }
  return { asked, address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`, close }
}

describe('loading', () => {
  test('gives the server, the namespace and the material of the current context', async () => {
    const user = { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key'), token: 't' }
    const cluster = {
      'certificate-authority-data': base64('ca'),
      'tls-server-name': 'kube',
      'proxy-url': 'http://proxy',
    }
    const connection = loadKubeConnection({ kubeconfig: await kubeconfig({ cluster, user }) })
    expect(connection).toMatchObject({
      server: 'https://127.0.0.1:6443',
      namespace: 'system',
      proxyUrl: 'http://proxy/',
    })
    expect(await connection.material()).toEqual({
      headers: { authorization: 'Bearer t' },
      tls: { ca: 'ca', cert: 'cert', key: 'key', servername: 'kube' },
    })
  })

  test('keeps the CA of a cluster whose context names no user', async () => {
    const cluster = { 'certificate-authority-data': base64('ca') }
    const connection = loadKubeConnection({ kubeconfig: await kubeconfig({ cluster }) })
    expect((await connection.material()).tls).toEqual({ ca: 'ca' })
  })

  test('allows plain http, which the library refuses, with credentials of every form', async () => {
    const cluster = { server: 'http://127.0.0.1:8001' }
    const connection = loadKubeConnection({
      kubeconfig: await kubeconfig({ cluster, user: { username: 'u', password: 'p' } }),
    })
    expect((await connection.material()).headers).toEqual({ authorization: `Basic ${base64('u:p')}` })
  })

  test('runs an exec plugin, and says what failed without its output in the message', async () => {
    const script = join(folder, 'plugin.mjs')
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'made' },
    }
    await writeFile(script, `console.log(${JSON.stringify(JSON.stringify(credential))})`)
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: [script] }
    const path = await kubeconfig({ user: { exec } })
    expect((await loadKubeConnection({ kubeconfig: path }).material()).headers).toEqual({
      authorization: 'Bearer made',
    })
    await writeFile(script, 'console.error("hidden"); process.exit(1)')
    await expect(loadKubeConnection({ kubeconfig: path }).material()).rejects.toMatchObject({
      code: 'Unauthorized',
      message: expect.not.stringContaining('hidden'),
    })
  })

  test('uses the proxies of the environment as kubectl does', async () => {
    const proxies = { httpsProxy: 'http://proxy:3128/', noProxy: 'kube.example.com,10.0.0.0/8' }
    const proxyOf = async (cluster: Record<string, unknown>) => {
      return loadKubeConnection({ kubeconfig: await kubeconfig({ cluster }), proxies }).proxyUrl
    }
    expect(await proxyOf({ server: 'https://kube.corp.example:6443' })).toBe('http://proxy:3128/')
    expect(await proxyOf({ server: 'https://kube.example.com:6443' })).toBeUndefined()
    expect(await proxyOf({ server: 'https://10.96.0.1' })).toBeUndefined()
    expect(await proxyOf({ server: 'http://kube.corp.example' })).toBeUndefined()
    expect(await proxyOf({ server: 'https://127.0.0.1:6443' })).toBeUndefined()
    expect(await proxyOf({ server: 'https://127.0.0.1:6443', 'proxy-url': 'http://own:1' })).toBe('http://own:1/')
    await expect(proxyOf({ 'proxy-url': 'socks5://own:1' })).rejects.toThrow('proxy-url of the kubeconfig is not')
  })

  test('reads the token files of all files of KUBECONFIG, of which the first counts, and leaves out missing ones', async () => {
    const path = await kubeconfig({ user: { tokenFile: 'token' } })
    const [base, other] = [join(folder, 'base'), join(folder, 'other')]
    await writeFile(join(folder, 'token'), 'from-file')
    await writeFile(base, stringify({ 'current-context': 'main', clusters: [] }))
    await writeFile(other, stringify({ 'current-context': 'none', users: [{ name: 'u', user: { token: 'later' } }] }))
    const connection = loadKubeConnection({ kubeconfigs: [join(folder, 'absent'), base, path, other] })
    expect((await connection.material()).headers).toEqual({ authorization: 'Bearer from-file' })
    const environment = readEnvironment({ KUBECONFIG: [base, '', path].join(delimiter) })
    expect(environment.kubeconfigs).toEqual([base, path])
  })

  test('refuses a context or a file that is not there', async () => {
    const path = await kubeconfig({ user: {} })
    expect(() => loadKubeConnection({ kubeconfig: path, context: 'other' })).toThrow(/no context other/)
    expect(() => loadKubeConnection({ kubeconfig: join(folder, 'absent') })).toThrow(/could not load/)
  })
})

describe('over TLS', () => {
  let server: Server
  let accepted: string
  let cluster: Record<string, unknown>
  let caFile: string

  beforeEach(async () => {
    const certificate = selfSigned()
    accepted = 'Bearer first'
    server = createServer(certificate, (request, response) => {
      const allowed = request.headers.authorization === accepted
      const metadata = { name: 'front', namespace: 'shop', uid: 'u', resourceVersion: '1' }
      const body = allowed ? { metadata } : { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'no' }
      response.writeHead(allowed ? 200 : 401, { connection: 'close' }).end(JSON.stringify(body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    caFile = join(folder, 'ca.crt')
    await writeFile(caFile, certificate.cert)
    cluster = {
      server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      'certificate-authority': 'ca.crt',
    }
  })

  afterEach(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })

  test('a rotated token file is read again as soon as the old token is refused', async () => {
    await writeFile(join(folder, 'token'), 'first\n')
    const connection = loadKubeConnection({ kubeconfig: await kubeconfig({ cluster, user: { tokenFile: 'token' } }) })
    const client = createKubeClient({ connection, clock: new FakeClock(), random: systemRandom })
    expect(await client.get(edges, key)).toBeDefined()
    await writeFile(join(folder, 'token'), 'second\n')
    accepted = 'Bearer second'
    expect(await client.get(edges, key)).toBeDefined()
    await client.close()
  })

  test('a proxy of the environment carries calls to a server that it alone can reach', async () => {
    const { port } = server.address() as AddressInfo
    const proxy = await connectProxy(port)
    const { server: _, ...rest } = cluster
    const address = { ...rest, server: `https://kube.corp.example:${port}`, 'tls-server-name': '127.0.0.1' }
    const path = await kubeconfig({ cluster: address, user: { token: 'first' } })
    // Without a scheme, as many people set it.
    const { proxies } = readEnvironment({ HTTPS_PROXY: proxy.address })
    const connection = loadKubeConnection({ kubeconfig: path, proxies })
    const client = createKubeClient({ connection, clock: new FakeClock(), random: systemRandom })
    expect(await client.get(edges, key)).toBeDefined()
    expect(proxy.asked).toEqual([`kube.corp.example:${port}`])
    await client.close()
    await proxy.close()
  })

  test('a rotated CA file is read again within half a minute', async () => {
    const clock = new FakeClock()
    const connection = loadKubeConnection({ kubeconfig: await kubeconfig({ cluster, user: { token: 'first' } }) })
    const client = createKubeClient({ connection, clock, random: systemRandom, maxRetries: 0 })
    expect(await client.get(edges, key)).toBeDefined()
    const rotated = selfSigned()
    server.setSecureContext(rotated)
    await expect(client.get(edges, key)).rejects.toMatchObject({ code: 'Network' })
    await writeFile(caFile, rotated.cert)
    await clock.advance(30_000)
    expect(await client.get(edges, key)).toBeDefined()
    await client.close()
  })

  test('each connection after the first resumes its TLS session, for calls and watches', async () => {
    const resumed: boolean[] = []
    server.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()))
    const connection = loadKubeConnection({ kubeconfig: await kubeconfig({ cluster, user: { token: 'first' } }) })
    const client = createKubeClient({ connection, clock: new FakeClock(), random: systemRandom })
    await client.get(edges, key)
    for await (const _ of client.watch(edges, {
      resourceVersion: '1',
      timeoutSeconds: 300,
      signal: new AbortController().signal,
    }))
      break
    await client.get(edges, key)
    expect(resumed).toEqual([false, true, true])
    await client.close()
  })

  test('a connection that fails is followed by one that resumes nothing', async () => {
    const resumed: boolean[] = []
    server.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()))
    const connection = loadKubeConnection({ kubeconfig: await kubeconfig({ cluster, user: { token: 'first' } }) })
    const client = createKubeClient({ connection, clock: new FakeClock(), random: systemRandom, maxRetries: 0 })
    await client.get(edges, key)
    server.once('connection', (socket: Socket) => socket.destroy())
    await expect(client.get(edges, key)).rejects.toMatchObject({ code: 'Network' })
    await client.get(edges, key)
    await client.get(edges, key)
    expect(resumed).toEqual([false, false, true])
    await client.close()
  })

  test('a server that the CA did not sign is not spoken to', async () => {
    await writeFile(caFile, selfSigned().cert)
    const connection = loadKubeConnection({ kubeconfig: await kubeconfig({ cluster, user: { token: 'first' } }) })
    const client = createKubeClient({ connection, clock: new FakeClock(), random: systemRandom, maxRetries: 0 })
    await expect(client.get(edges, key)).rejects.toMatchObject({ code: 'Network' })
    await client.close()
  })
})
