import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { apiError, json } from '../../builders/http-server.ts'
import { clientFor, failure, KEY, serve } from './client-fixture.ts'

const { ipPolicies, ipPolicyRules } = collections
const MEBIBYTE = 1024 * 1024

/** Endless pages, each with the number of the next; `objects` returns the content of a page. */
function endless(objects: (page: number) => readonly object[], more: object = {}): Parameters<typeof serve>[0] {
  return (request, response) => {
    const page = Number(new URL(request.path, 'http://x').searchParams.get('page') ?? '1')
    const list = objects(page)
    json(response, 200, {
      ip_policies: list,
      ip_policy_rules: list,
      next_page_uri: `?page=${page + 1}`,
      ...more,
    })
  }
}

describe('an answer that means harm', () => {
  it.each([
    ['nested deeper than 100 levels', `{"id":"ipp_1","metadata":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['nested deeper than 100 levels', `{"id":"ipp_1","metadata":${'{"a":'.repeat(101)}1${'}'.repeat(101)}}`],
    ['more than 500000 values', `{"id":"ipp_1","metadata":[${'[],'.repeat(500_000)}[]]}`],
    ['not UTF-8', Buffer.from('7b226964223a226970705fff227d', 'hex')],
    ['not JSON', '{"id":NaN}'],
    ['not JSON', `{"id":"ipp_1","metadata":"${'['.repeat(200)}`],
  ])('is refused as %s', async (words, body) => {
    const server = await serve((_, response) => response.writeHead(201).end(body))
    const error = await failure(clientFor(server.url).create(ipPolicies, {}))
    expect(error).toMatchObject({ code: 'InvalidResponse', definite: false })
    expect(error.message).toContain(words)
    expect(error.message.length).toBeLessThan(200)
  })

  it('is not taken for deep or large because of what stands in its strings', async () => {
    const metadata = `${'[{,"\\'.repeat(200_000)}`
    const server = await serve((_, response) => json(response, 201, { id: 'ipp_1', metadata }))
    expect(await clientFor(server.url).create(ipPolicies, {})).toEqual({ id: 'ipp_1', metadata })
  })

  it('may begin with a byte order mark', async () => {
    const server = await serve((_, response) => response.writeHead(201).end('\ufeff{"id":"ipp_1"}'))
    expect(await clientFor(server.url).create(ipPolicies, {})).toEqual({ id: 'ipp_1' })
  })

  it.each([
    ['', 'must NOT have fewer than 1 characters'],
    ['x'.repeat(256), 'must NOT have more than 255 characters'],
    ['../api_keys/ak_1', 'is not valid in a path'],
    ['a/b', 'is not valid in a path'],
    ['a\nb', 'is not valid in a path'],
  ])('with the id %j is refused, alone and in a list', async (id, words) => {
    const server = await serve((request, response) =>
      request.method === 'POST' ? json(response, 201, { id }) : json(response, 200, { ip_policies: [{ id }] }),
    )
    const client = clientFor(server.url)
    for (const call of [client.create(ipPolicies, {}), client.list(ipPolicies)]) {
      const error = await failure(call)
      expect(error.code).toBe('InvalidResponse')
      expect(error.message).toContain(words)
      expect(error.message.length).toBeLessThan(200)
    }
  })

  it.each(['a%2fb', 'a?b', 'a b', 'a#b'])('with the id %j is asked for by exactly this id', async (id) => {
    const server = await serve((_, response) => json(response, 200, { id }))
    expect(await clientFor(server.url).get(ipPolicies, id)).toEqual({ id })
    expect(server.requests.map(({ path }) => path)).toEqual([`/ip_policies/${encodeURIComponent(id)}`])
  })

  it('that announces too large a body is refused before the body is read', async () => {
    let sent: ServerResponse | undefined
    const server = await serve((_, response) => {
      sent = response
      response.writeHead(201, { 'content-length': String(100 * MEBIBYTE) })
      response.write('{')
    })
    const error = await failure(clientFor(server.url).create(ipPolicies, {}))
    expect(error).toMatchObject({ code: 'InvalidResponse', definite: false })
    expect(error.message).toBe('POST ip_policies: the response is larger than 8388608 bytes')
    expect(sent?.writableEnded).toBe(false)
  })

  it.each(['SSH-2.0-words-of-the-server\r\n', 'HTTP/1.1 200 OK\r\nbad header\r\n\r\n'])(
    '%j is called no HTTP',
    async (sent) => {
      const server = await serve((_, response) => response.socket?.end(sent))
      const error = await failure(clientFor(server.url).create(ipPolicies, {}))
      expect(error).toMatchObject({ code: 'Network', definite: false })
      expect(error.message).toBe('POST ip_policies: the response of the server is not HTTP')
    },
  )

  it('cannot put the key into an operation id, be it in the header or in the body', async () => {
    const inHeader = await serve((_, response) => apiError(response, 400, 'no', { 'operation-id': `op_${KEY}` }))
    expect((await failure(clientFor(inHeader.url).create(ipPolicies, {}))).operationId).toBe('op_[redacted]')
    const details = { operation_id: `op_${KEY}\n${'x'.repeat(100)}` }
    const inBody = await serve((_, response) => json(response, 400, { msg: 'no', details }))
    const { operationId } = await failure(clientFor(inBody.url).create(ipPolicies, {}))
    expect(operationId).toMatch(/^op_\[redacted\] x+…$/)
    expect(operationId?.length).toBeLessThanOrEqual(64)
  })

  it('cannot put the key into the operation id of a write that succeeds', async () => {
    const reports: (string | undefined)[] = []
    const server = await serve((_, response) => json(response, 201, { id: 'ipp_1' }, { 'operation-id': KEY }))
    const onWrite = ({ operationId }: { operationId: string | undefined }): number => reports.push(operationId)
    await clientFor(server.url, { onWrite }).create(ipPolicies, {})
    expect(reports).toEqual(['[redacted]'])
  })
})

describe('a list that means harm', () => {
  it.each([
    ['another host', `http://${'key'.repeat(2000)}.example/x`, 'another scheme, host or port'],
    ['a user name', 'http://user:secret@HOST/ip_policies', 'with a user name or password'],
    ['a path outside', 'http://HOST/v2/ip_policies', 'outside the path of the base URL'],
  ])('is distinguished by words alone: a next_page_uri with %s', async (_, next, words) => {
    const server = await serve((request, response) => {
      const uri = next.replace('HOST', request.headers.host ?? '')
      json(response, 200, { ip_policies: [], next_page_uri: uri })
    })
    const error = await failure(clientFor(`${server.url}/v1`).list(ipPolicies))
    expect(error.code).toBe('HostNotAllowed')
    expect(error.message).toContain(words)
    expect(error.message).not.toContain('keykey')
    expect(error.message).not.toContain('secret')
    expect(error.message.length).toBeLessThan(200)
  })

  it('is refused for a next_page_uri longer than a request line should be', async () => {
    const server = await serve((_, response) =>
      json(response, 200, { ip_policies: [], next_page_uri: `?after=${'x'.repeat(8192)}` }),
    )
    const error = await failure(clientFor(server.url).list(ipPolicies))
    expect(error.message).toBe('GET ip_policies: next_page_uri is longer than 8192 characters')
    expect(server.requests).toHaveLength(1)
  })

  it.each([
    ['empty', () => []],
    ['the same', () => [{ id: 'ipp_1' }]],
  ])('is given up when its pages are %s for ever', async (_, objects) => {
    const server = await serve(endless(objects))
    const error = await failure(clientFor(server.url).list(ipPolicies))
    expect(error).toMatchObject({ code: 'InvalidResponse' })
    expect(error.message).toBe('GET ip_policies: 100 pages in a row contained nothing new')
    expect(server.requests.length).toBeLessThanOrEqual(102)
  })

  it('is given up when its objects take more memory than an account may', async () => {
    const server = await serve(endless((page) => [{ id: `ipp_${page}`, metadata: 'x'.repeat(100_000) }]))
    const error = await failure(clientFor(server.url, { maxListBytes: MEBIBYTE }).list(ipPolicies))
    expect(error).toMatchObject({ code: 'InvalidResponse' })
    expect(error.message).toBe("GET ip_policies: the account's lists take more than 1048576 bytes together")
    expect(server.requests.length).toBeLessThan(15)
  })

  it('counts what small values take in memory, not only their text', async () => {
    const tiny = Array.from({ length: 10_000 }, () => [])
    const server = await serve(endless((page) => [{ id: `ipp_${page}`, metadata: tiny }]))
    await failure(clientFor(server.url, { maxListBytes: 4 * MEBIBYTE }).list(ipPolicies))
    expect(server.requests.length).toBeLessThan(15)
  })

  it('leaves less room to the other lists of its account, until it shrinks', async () => {
    const length = { ip_policies: 600_000, ip_policy_rules: 600_000 }
    const server = await serve((request, response) => {
      const list = (key: keyof typeof length): object => [{ id: 'a', metadata: 'x'.repeat(length[key]) }]
      const key = request.path === '/ip_policies' ? 'ip_policies' : 'ip_policy_rules'
      json(response, 200, { [key]: list(key) })
    })
    const client = clientFor(server.url, { maxListBytes: MEBIBYTE })
    await client.list(ipPolicies)
    expect(await failure(client.list(ipPolicyRules))).toMatchObject({ code: 'InvalidResponse' })
    // The same list again replaces the previous one.
    await client.list(ipPolicies)
    length.ip_policies = 10
    await client.list(ipPolicies)
    expect((await client.list(ipPolicyRules)).objects).toHaveLength(1)
  })
})
