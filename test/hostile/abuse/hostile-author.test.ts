import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { KubeError } from '../../../src/kube/kube-error.ts'
import { json, startServer, type TestServer } from '../../builders/http-server.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, World } from '../../cluster/support/world.ts'

/** Listens on one port of all IPv4 and IPv6 addresses of the machine, and counts the requests that carry a key. */
class Elsewhere implements AsyncDisposable {
  readonly #server: Server
  readonly keys: string[] = []

  private constructor() {
    this.#server = createServer((request, response) => {
      this.keys.push(`${request.headers.host}${request.url} ${request.headers.authorization ?? 'without a key'}`)
      response.end('{}')
    })
  }

  static async start(): Promise<Elsewhere> {
    const elsewhere = new Elsewhere()
    await new Promise<void>((resolve) => elsewhere.#server.listen({ port: 0, host: '::', ipv6Only: false }, resolve))
    return elsewhere
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** Names and addresses by which an author may try to reach hosts that only the operator can reach. */
function forbidden(port: number, allowed: string): readonly string[] {
  return [
    `http://127.0.0.1:${port}`,
    `http://127.1:${port}`,
    `http://0:${port}`,
    `http://0.0.0.0:${port}`,
    `http://2130706433:${port}`,
    `http://0x7f.1:${port}`,
    `http://0x7f000001:${port}`,
    `http://0177.0.0.1:${port}`,
    `http://①②⑦.0.0.1:${port}`,
    `http://localhost:${port}`,
    `http://LOCALHOST:${port}`,
    `http://localhost.:${port}`,
    `http://127.0.0.1.:${port}`,
    `http://[::1]:${port}`,
    `http://[::]:${port}`,
    `http://[::ffff:127.0.0.1]:${port}`,
    `http://[0:0:0:0:0:ffff:7f00:1]:${port}`,
    `http://${allowed}@127.0.0.1:${port}`,
    `http://${allowed}\\@127.0.0.1:${port}`,
    `http://127.0.0.1:${port}/${allowed}`,
    `http://127.0.0.1:${port}#${allowed}`,
    `http://127.0.0.1:${port}?${allowed}`,
    `http://${allowed}.127.0.0.1.nip.invalid:${port}`,
    'http://169.254.169.254/latest/meta-data',
    'http://[fe80::1]',
    'http://metadata.google.internal',
    'http://kubernetes.default.svc',
    'https://kubernetes.default.svc.cluster.local',
    'https://10.0.0.1',
    'https://192.168.0.1',
    'https://172.16.0.1:6443',
    'https://xn--pi-7kc.tunnel.example',
    'https://аpi.tunnel.example',
    'ftp://api.tunnel.example',
    'file:///var/run/secrets/kubernetes.io/serviceaccount/token',
  ]
}

test('no key reaches a host that the administrator does not allow, however the address is spelled', async () => {
  await using elsewhere = await Elsewhere.start()
  const hosts = ['api.tunnel.example', '*.wide.example'].flatMap((host) => ['--allow-api-host', host])
  await using world = await World.open({ flags: hosts })
  const allowed = new URL(world.emulator.url).host
  const addresses = forbidden(elsewhere.port, allowed)
  const refusedAtOnce: string[] = []
  for (const [index, baseURL] of addresses.entries()) {
    try {
      await world.apply('Account', `a-${index}`, { baseURL, apiKeySecretRef: { name: 'credentials' } })
    } catch (error) {
      expect(error, baseURL).toBeInstanceOf(KubeError)
      expect((error as KubeError).message, baseURL).toContain('spec.baseURL')
      refusedAtOnce.push(baseURL)
    }
  }
  for (const [index, baseURL] of addresses.entries()) {
    if (refusedAtOnce.includes(baseURL)) continue
    const { message } = await world.reason('Account', `a-${index}`, 'Ready', 'BaseURLNotAllowed', 60_000)
    expect(message, baseURL).toMatch(/^spec\.baseURL: "/)
    expect(message).not.toMatch(/\p{Cc}/u)
  }
  // A sentinel: once an account of an allowed host works, every earlier request has been sent.
  await world.resync()
  expect(elsewhere.keys).toEqual([])
  console.info(
    `${addresses.length} addresses, ${refusedAtOnce.length} of them refused by the apiserver: 0 requests elsewhere`,
  )
})

const listKeys = new Map(Object.values(collections).map(({ path, listKey }) => [`/${path}`, listKey]))

/** An allowed host that sends its callers to `target`: by a redirect, or as the next page of each list. */
function startLure(how: 'redirect' | 'next page', target: string, status = 307): Promise<TestServer> {
  return startServer(({ path }, response) => {
    if (how === 'redirect') {
      response.writeHead(status, { location: `${target}${path}` })
      response.end()
      return
    }
    const key = listKeys.get(path.split('?', 1)[0] ?? '') ?? 'objects'
    json(response, 200, { [key]: [], uri: `${target}${path}`, next_page_uri: `${target}${path}?before_id=x` })
  })
}

test('no key follows a redirect or a next page to another host', async () => {
  await using elsewhere = await Elsewhere.start()
  const targets = [
    `http://127.0.0.1:${elsewhere.port}`,
    `http://localhost:${elsewhere.port}`,
    `//127.0.0.1:${elsewhere.port}`,
  ]
  const lures = await Promise.all([
    ...targets.map((target) => startLure('next page', target)),
    ...targets.flatMap((target) => [301, 302, 307, 308].map((status) => startLure('redirect', target, status))),
  ])
  try {
    const flags = lures.flatMap(({ url }) => ['--allow-api-host', new URL(url).host])
    await using world = await World.open({ flags })
    const apiKeySecretRef = { name: 'credentials' }
    for (const [index, { url }] of lures.entries()) {
      await world.apply('Account', `lure-${index}`, { baseURL: url, apiKeySecretRef })
    }
    for (const [index] of lures.entries()) {
      const name = `lure-${index}`
      await world.apply('Backend', name, { type: 'TunnelGroup', tunnelGroup: {}, accountRef: { name } })
      await world.until('Account', name, 'is in trouble', (cr) => conditionOf(cr, 'Ready')?.status === 'False', 60_000)
    }
    for (const lure of lures) await until('it was asked', () => lure.requests.length > 0)
    await world.resync()
    expect(elsewhere.keys).toEqual([])
    console.info(
      `${lures.length} lures with ${lures.reduce((sum, { requests }) => sum + requests.length, 0)} requests: 0 elsewhere`,
    )
  } finally {
    await Promise.all(lures.map((lure) => lure.close()))
  }
})

test('an allowed host name is reached wherever it resolves to', async () => {
  await using world = await World.open()
  const { port } = new URL(world.emulator.url)
  const apiKeySecretRef = { name: 'credentials' }
  await world.apply('Account', 'by-name', { baseURL: `http://localhost:${port}`, apiKeySecretRef })
  await world.reason('Account', 'by-name', 'Ready', 'BaseURLNotAllowed')
  await world.operator.stop()
  await world.startOperator(['--allow-api-host', `localhost:${port}`])
  await world.ready('Account', 'by-name', 60_000)
})
