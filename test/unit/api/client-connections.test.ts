import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { selfSigned } from '../../builders/certificate.ts'
import { json } from '../../builders/http-server.ts'
import { clientFor, failure, serve } from './client-fixture.ts'

const { ipPolicies } = collections

async function serveTLS(): Promise<{ readonly url: string; readonly ca: string; readonly connections: () => number }> {
  const { cert, key } = selfSigned()
  let connections = 0
  const server = createServer({ cert, key }, (_, response) => json(response, 200, { id: 'ipp_1' }))
  server.on('secureConnection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `https://127.0.0.1:${port}`, ca: cert, connections: () => connections }
}

describe('TLS', () => {
  it('trusts the authorities of caBundle and keeps connections open', async () => {
    const { url, ca, connections } = await serveTLS()
    const client = clientFor(url, { caBundle: ca })
    for (let i = 0; i < 20; i++) expect(await client.get(ipPolicies, 'ipp_1')).toEqual({ id: 'ipp_1' })
    // A second one is opened if a request begins before the connection of the last is free again.
    expect(connections()).toBeLessThanOrEqual(2)
  })

  it('refuses a certificate of another authority before anything is sent', async () => {
    const { url } = await serveTLS()
    const { cert } = selfSigned()
    for (const caBundle of [undefined, cert]) {
      const error = await failure(clientFor(url, { caBundle }).create(ipPolicies, {}))
      expect(error).toMatchObject({ code: 'Network', definite: true })
      expect(error.message).toContain('certificate is not trusted')
    }
  })

  it('trusts the authorities of caBundle alone, not those of the operator next to them', async () => {
    const { url, ca } = await serveTLS()
    const before = getCACertificates()
    onTestFinished(() => setDefaultCACertificates(before))
    setDefaultCACertificates([ca])
    expect(await clientFor(url).get(ipPolicies, 'ipp_1')).toEqual({ id: 'ipp_1' })
    const error = await failure(clientFor(url, { caBundle: selfSigned().cert }).create(ipPolicies, {}))
    expect(error).toMatchObject({ code: 'Network', definite: true })
    expect(error.message).toContain('certificate is not trusted')
  })

  it('refuses a certificate of another name, though caBundle vouches for it', async () => {
    const { url, ca } = await serveTLS()
    const other = url.replace('127.0.0.1', 'localhost')
    const error = await failure(clientFor(other, { caBundle: ca }).create(ipPolicies, {}))
    expect(error).toMatchObject({ code: 'Network', definite: true })
    expect(error.message).toContain('ALTNAME')
  })
})

describe('a proxy', () => {
  it('gets the requests when one is configured', async () => {
    const proxy = await serve((_, response) => json(response, 201, { id: 'ipp_1' }))
    await clientFor('http://api.invalid/v1', { proxies: { httpProxy: proxy.url } }).create(ipPolicies, {})
    expect(proxy.requests.map((request) => request.path)).toEqual(['http://api.invalid/v1/ip_policies'])
  })

  it('that refuses the tunnel fails the request', async () => {
    const proxy = await serve((_, response) => response.writeHead(502).end())
    const client = clientFor('https://api.invalid', { proxies: { httpsProxy: proxy.url } })
    expect(await failure(client.create(ipPolicies, {}))).toMatchObject({ code: 'Network' })
  })
})
