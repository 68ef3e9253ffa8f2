import { describe, expect, it } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { ApiError } from '../../../src/api/errors.ts'
import type { RequestReport } from '../../../src/api/transport.ts'
import { apiError, json } from '../../builders/http-server.ts'
import { clientFor, failure, KEY, serve } from './client-fixture.ts'

const { ipPolicies, tlsEdges } = collections

describe('a request', () => {
  it('carries the key, the version, the agent and, with a body, the content type', async () => {
    const server = await serve((_, response) => json(response, 201, { id: 'ipp_1' }))
    await clientFor(server.url, { apiKey: () => `${KEY}\n` }).create(ipPolicies, { description: 'office' })
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/ip_policies',
      body: '{"description":"office"}',
      headers: {
        authorization: `Bearer ${KEY}`,
        'service-version': '2',
        'content-type': 'application/json',
        'user-agent': 'culvert/test',
      },
    })
  })

  it('names the version in the configured header', async () => {
    const server = await serve((_, response) => json(response, 200, { id: 'ipp_1' }))
    await clientFor(server.url, { versionHeader: 'Other-Version' }).get(ipPolicies, 'ipp_1')
    expect(server.requests[0]?.headers['other-version']).toBe('2')
  })

  it('keeps the path of the base URL and encodes the id as one segment', async () => {
    const server = await serve((_, response) => json(response, 200, { id: 'a?b %2e#é' }))
    await clientFor(`${server.url}/v1/`).get(tlsEdges, 'a?b %2e#é')
    expect(server.requests[0]?.path).toBe('/v1/edges/tls/a%3Fb%20%252e%23%C3%A9')
  })

  it.each(['', '.', '..', '../x', 'a/b', 'a\\b', 'a..b', 'a\n', '\ud800'])(
    'with the id %j is refused unsent',
    async (id) => {
      const server = await serve((_, response) => json(response, 200, { id }))
      const client = clientFor(server.url)
      for (const call of [
        client.get(ipPolicies, id),
        client.update(ipPolicies, id, {}),
        client.delete(ipPolicies, id),
      ]) {
        expect(await failure(call)).toMatchObject({ code: 'Invalid', definite: true })
      }
      expect(server.requests).toHaveLength(0)
    },
  )

  it.each(['', 'two words', 'käse'])('with the key %j is refused unsent, without showing it', async (key) => {
    const server = await serve((_, response) => json(response, 200, { id: 'ipp_1' }))
    const error = await failure(clientFor(server.url, { apiKey: () => key }).get(ipPolicies, 'ipp_1'))
    expect(error).toMatchObject({ code: 'Unauthorized', definite: true })
    if (key !== '') expect(error.message).not.toContain(key)
    expect(server.requests).toHaveLength(0)
  })

  it('is reported with its status, or the code of the error', async () => {
    const reports: RequestReport[] = []
    const server = await serve((request, response) => {
      if (request.method === 'GET') json(response, 200, { id: 'ipp_1' })
      else response.socket?.destroy()
    })
    const client = clientFor(server.url, { onRequest: (report) => reports.push(report) })
    await client.get(ipPolicies, 'ipp_1')
    await failure(client.delete(ipPolicies, 'ipp_1'))
    expect(reports).toMatchObject([
      { collection: 'ip_policies', method: 'GET', status: '200' },
      { collection: 'ip_policies', method: 'DELETE', status: 'Network' },
    ])
  })
})

describe('get and delete', () => {
  it.each([
    [
      'in the words of the API',
      JSON.stringify({ error_code: 'ERR_3004', status_code: 404, msg: 'no such policy', details: {} }),
    ],
    ['with a page', 'default backend - 404'],
    ['without a body', ''],
    ['in other JSON', '{"error":"not found"}'],
  ])('tell of a 404 %s, without judging what it means', async (_title, body) => {
    const server = await serve((_, response) => response.writeHead(404).end(body))
    const client = clientFor(server.url)
    expect(await client.get(ipPolicies, 'ipp_1')).toBeUndefined()
    expect(await client.delete(ipPolicies, 'ipp_1')).toBe('absent')
  })

  it('report a deletion answered 204', async () => {
    const server = await serve((_, response) => response.writeHead(204).end())
    expect(await clientFor(server.url).delete(ipPolicies, 'ipp_1')).toBe('deleted')
  })

  it('refuse another object than the one asked for', async () => {
    const server = await serve((_, response) => json(response, 200, { id: 'ipp_2' }))
    const client = clientFor(server.url)
    const refusal = { code: 'InvalidResponse', definite: false }
    expect(await failure(client.get(ipPolicies, 'ipp_1'))).toMatchObject(refusal)
    expect(await failure(client.delete(ipPolicies, 'ipp_1'))).toMatchObject(refusal)
  })
})

describe('update', () => {
  it('sends the id in the body', async () => {
    const server = await serve((_, response) => json(response, 200, { id: 'ipp_1' }))
    await clientFor(server.url).update(ipPolicies, 'ipp_1', { description: '' })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({ description: '', id: 'ipp_1' })
  })

  it.each(['', '{}', 'null', '[]'])('reads the object when the answer is %j, which does not hold it', async (body) => {
    const server = await serve((request, response) => {
      if (request.method === 'PATCH') response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      else json(response, 200, { id: 'edgtls_1', description: 'stored' })
    })
    const updated = await clientFor(server.url).update(tlsEdges, 'edgtls_1', { description: 'stored' })
    expect(updated.description).toBe('stored')
  })

  it('of an object that is gone is definite', async () => {
    const server = await serve((_, response) => apiError(response, 404, 'no such policy'))
    const error = await failure(clientFor(server.url).update(ipPolicies, 'ipp_1', {}))
    expect(error).toMatchObject({ code: 'NotFound', definite: true, message: 'PATCH ip_policies: no such policy' })
  })
})

describe('an object that is not there', () => {
  it.each([404, 410])('is absent by the status %i, with any body', async (status) => {
    const server = await serve((_, response) => response.writeHead(status).end('gone'))
    const client = clientFor(server.url)
    expect(await client.get(ipPolicies, 'ipp_1')).toBeUndefined()
    expect(await client.delete(ipPolicies, 'ipp_1')).toBe('absent')
    expect(await failure(client.update(ipPolicies, 'ipp_1', {}))).toMatchObject({ code: 'NotFound' })
  })
})

describe('leadership and suspension', () => {
  const refuse = (code: 'NotLeader' | 'Suspended') => () => {
    throw new ApiError(code, 'not now', { definite: true })
  }

  it('keep a write from being sent, not a read', async () => {
    const server = await serve((_, response) => json(response, 200, { id: 'ipp_1' }))
    const client = clientFor(server.url, { beforeWrite: refuse('NotLeader') })
    expect(await failure(client.create(ipPolicies, {}))).toMatchObject({ code: 'NotLeader' })
    expect(await failure(client.update(ipPolicies, 'ipp_1', {}))).toMatchObject({ code: 'NotLeader' })
    expect(await failure(client.delete(ipPolicies, 'ipp_1'))).toMatchObject({ code: 'NotLeader' })
    await client.get(ipPolicies, 'ipp_1')
    expect(server.requests.map((request) => request.method)).toEqual(['GET'])
  })

  it('keep any call of a suspended account from being sent', async () => {
    const server = await serve((_, response) => json(response, 200, { id: 'ipp_1' }))
    const client = clientFor(server.url, { beforeCall: refuse('Suspended') })
    expect(await failure(client.get(ipPolicies, 'ipp_1'))).toMatchObject({ code: 'Suspended' })
    expect(server.requests).toHaveLength(0)
  })
})

describe('a command', () => {
  const { tunnelSessions } = collections

  it('is one POST of an empty JSON object below the object, answered without a body', async () => {
    const server = await serve((_, response) => response.writeHead(204).end())
    await clientFor(`${server.url}/v1`).command(tunnelSessions, 'ts_1', 'restart')
    expect(server.requests).toMatchObject([{ method: 'POST', path: '/v1/tunnel_sessions/ts_1/restart', body: '{}' }])
  })

  it('that is not carried out fails with the code and the words of the API', async () => {
    const server = await serve((_, response) => apiError(response, 409, 'no update'))
    const error = await failure(clientFor(server.url).command(tunnelSessions, 'ts_1', 'update'))
    expect(error).toMatchObject({ code: 'Conflict', errorCode: 'ERR_1', definite: true, status: 409 })
    expect(server.requests).toHaveLength(1)
  })

  it('that is answered 503 is not sent again, and its outcome is unknown', async () => {
    const server = await serve((_, response) => apiError(response, 503, 'broken'))
    const error = await failure(clientFor(server.url).command(tunnelSessions, 'ts_1', 'stop'))
    expect(error).toMatchObject({ code: 'ServerError', definite: false })
    expect(server.requests).toHaveLength(1)
  })
})
