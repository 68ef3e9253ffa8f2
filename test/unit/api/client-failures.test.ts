import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { apiError, json } from '../../builders/http-server.ts'
import { clientFor, failure, KEY, serve } from './client-fixture.ts'

const { ipPolicies, eventDestinations } = collections

describe('an error answer', () => {
  it.each([
    [400, 'Invalid', true],
    [401, 'Unauthorized', true],
    [403, 'Forbidden', true],
    [408, 'Timeout', false],
    [409, 'Conflict', true],
    [413, 'Invalid', true],
    [429, 'RateLimited', true],
    [500, 'ServerError', false],
    [503, 'ServerError', false],
  ] as const)('with status %i is %s, definite: %s', async (status, code, definite) => {
    const server = await serve((_, response) => apiError(response, status, 'because'))
    const error = await failure(clientFor(server.url).create(ipPolicies, {}))
    expect(error).toMatchObject({ code, definite, status, errorCode: 'ERR_1', operationId: 'op_1' })
    expect(error.message).toBe('POST ip_policies: because')
    expect(server.requests).toHaveLength(1)
  })

  it('with status 501 is final: not even a GET is sent again', async () => {
    const server = await serve((_, response) => apiError(response, 501, 'there is no such collection'))
    expect(await failure(clientFor(server.url).list(ipPolicies))).toMatchObject({ code: 'ServerError', status: 501 })
    expect(server.requests).toHaveLength(1)
  })

  it.each([{ msg: 'm' }, { error_code: 'E' }, { status_code: 400 }, { errors: [], code: 'taken' }, { code: 40001 }])(
    'with the body %j is definite',
    async (body) => {
      const server = await serve((_, response) => json(response, 400, body))
      expect((await failure(clientFor(server.url).create(ipPolicies, {}))).definite).toBe(true)
    },
  )

  it.each([
    { error: 'the name is taken' },
    { message: 'the name is taken' },
    { error: { message: 'the name is taken', type: 'taken' } },
    { type: 'about:blank', title: 'Conflict', status: 409, detail: 'the name is taken' },
    { error: 'invalid_name', error_description: 'the name is taken' },
    { errors: [{ message: 'the name is taken', code: 1 }, { message: 'and more' }] },
    ['the name is taken'],
    { reason: 'the name is taken' },
    { detail: [{ loc: ['body'], msg: 'the name is taken' }] },
  ])('with the body %j is definite, and its sentence is reported', async (body) => {
    const server = await serve((_, response) => json(response, 409, body))
    expect(await failure(clientFor(server.url).create(ipPolicies, {}))).toMatchObject({
      code: 'Conflict',
      definite: true,
      message: 'POST ip_policies: the name is taken',
    })
  })

  it.each(['<html>Bad Request</html>', '', '[]', '"text"', '{}', '{"error":[]}', 'null'])(
    'with the body %j of a gateway is not definite',
    async (body) => {
      const server = await serve((_, response) => response.writeHead(400).end(body))
      expect(await failure(clientFor(server.url).create(ipPolicies, {}))).toMatchObject({
        code: 'Invalid',
        definite: false,
      })
    },
  )

  it('in plain text is not definite, and its first words are reported in one line', async () => {
    const text = `the name\nis taken by ${KEY}: ${'x'.repeat(5000)}`
    const server = await serve((_, response) => {
      response.writeHead(409, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    })
    const error = await failure(clientFor(server.url).create(ipPolicies, {}))
    expect(error).toMatchObject({ code: 'Conflict', definite: false })
    expect(error.message).toMatch(/^POST ip_policies: the name is taken by \[redacted\]: x+…$/)
    expect(error.message.length).toBeLessThanOrEqual('POST ip_policies: '.length + 512)
  })

  it('shows neither the key, nor secrets of the body, nor the operation id, nor control characters', async () => {
    const secret = 'cloud/secret+value'
    const server = await serve((_, response) =>
      apiError(response, 400, `bad "${secret}" for ${KEY}\n\u001b[31m in op_1: ${'x'.repeat(2000)}`),
    )
    const target = { firehose: { auth: { creds: { cloud_secret_access_key: secret } } } }
    const error = await failure(clientFor(server.url).create(eventDestinations, { format: 'json', target }))
    expect(error.message).toMatch(
      /^POST event_destinations: bad "\[redacted\]" for \[redacted\] \\u001b\[31m in \[redacted\]: x+…$/,
    )
    expect(error.message.length).toBeLessThanOrEqual('POST event_destinations: '.length + 512)
  })

  it('does not show a secret that the cut would have split', async () => {
    const server = await serve((_, response) => apiError(response, 400, `${'x'.repeat(505)}${KEY}`))
    const error = await failure(clientFor(server.url).create(ipPolicies, {}))
    expect(error.message).not.toContain(KEY.slice(0, 6))
  })

  it('that redirects is refused and not followed', async () => {
    const server = await serve((_, response) => response.writeHead(307, { location: '/elsewhere' }).end())
    expect(await failure(clientFor(server.url).create(ipPolicies, {}))).toMatchObject({
      code: 'Redirect',
      definite: false,
    })
    expect(server.requests).toHaveLength(1)
  })
})

describe('a write without a usable answer', () => {
  it.each([
    ['an HTML 502', 'ServerError', (r) => r.writeHead(502, { 'content-type': 'text/html' }).end('<html>')],
    ['HTML with status 200', 'InvalidResponse', (r) => r.writeHead(200).end('<html>')],
    ['no body', 'InvalidResponse', (r) => r.writeHead(201).end()],
    ['an array', 'InvalidResponse', (r) => json(r, 201, [{ id: 'ipp_1' }])],
    ['an object without id', 'InvalidResponse', (r) => json(r, 201, { description: 'x' })],
    ['an id that is a number', 'InvalidResponse', (r) => json(r, 201, { id: 1 })],
    [
      'a truncated body',
      'Network',
      (r) => r.writeHead(201, { 'content-length': 100 }).end('{"id":', () => r.socket?.destroy()),
    ],
    ['a reset', 'Network', (r) => r.socket?.resetAndDestroy()],
  ] satisfies [string, string, (response: import('node:http').ServerResponse) => void][])(
    'such as %s has an unknown outcome and is sent once',
    async (_, code, answer) => {
      const server = await serve((_request, response) => answer(response))
      expect(await failure(clientFor(server.url).create(ipPolicies, {}))).toMatchObject({ code, definite: false })
      expect(server.requests).toHaveLength(1)
    },
  )

  it('is given up when the answer drips in too slowly, and the outcome is unknown', async () => {
    const server = await serve((_, response) => {
      response.writeHead(201, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(drip))
    })
    const error = await failure(clientFor(server.url, { requestTimeoutMs: 150 }).create(ipPolicies, {}))
    expect(error).toMatchObject({ code: 'Timeout', definite: false })
    expect(error.message).toBe('POST ip_policies: no complete response within 0.15 s')
  })

  it('is given up when the response is larger than allowed', async () => {
    let sent = 0
    const server = await serve((_, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ')
      response.writeHead(200)
      const pump = (): void => {
        while (sent < 100 && response.writable) {
          sent++
          if (!response.write(chunk)) {
            response.once('drain', pump)
            return
          }
        }
        response.end()
      }
      pump()
    })
    expect(await failure(clientFor(server.url).get(ipPolicies, 'ipp_1'))).toMatchObject({ code: 'InvalidResponse' })
    expect(server.requests).toHaveLength(1)
    expect(sent).toBeLessThan(60)
  })

  it('is given up when the caller aborts it', async () => {
    const caller = new AbortController()
    const server = await serve(() => caller.abort())
    const error = await failure(clientFor(server.url).create(ipPolicies, {}, { signal: caller.signal }))
    expect(error).toMatchObject({ code: 'Aborted', definite: false })
  })
})

describe('a connection that cannot be established', () => {
  it('is definite when it is refused', async () => {
    const server = await serve(() => undefined)
    await server.close()
    const error = await failure(clientFor(server.url).create(ipPolicies, {}))
    expect(error).toMatchObject({ code: 'Network', definite: true, message: 'POST ip_policies: connection refused' })
  })

  it('is definite when the host name does not exist', async () => {
    const error = await failure(clientFor('http://nowhere.invalid').create(ipPolicies, {}))
    expect(error).toMatchObject({ code: 'Network', definite: true })
  })

  it('is definite when TLS fails, and one failure does not stop the next call', async () => {
    const plain = createServer((socket) =>
      socket
        .resume()
        .on('error', () => socket.destroy())
        .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    )
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const address = plain.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const client = clientFor(`https://127.0.0.1:${port}`)
    expect(await failure(client.create(ipPolicies, {}))).toMatchObject({ code: 'Network', definite: true })
    expect(await failure(client.create(ipPolicies, {}))).toMatchObject({ code: 'Network', definite: true })
    await new Promise((resolve) => plain.close(resolve))
  })

  it('is definite when the proxy refuses, and the environment is not asked for one', async () => {
    const server = await serve((_, response) => json(response, 201, { id: 'ipp_1' }))
    const proxy = await serve(() => undefined)
    await proxy.close()
    const proxies = { httpProxy: proxy.url }
    expect(await failure(clientFor(server.url, { proxies }).create(ipPolicies, {}))).toMatchObject({
      code: 'Network',
      definite: true,
    })
    const direct = clientFor(server.url, { proxies: { ...proxies, noProxy: '127.0.0.1' } })
    expect((await direct.create(ipPolicies, {})).id).toBe('ipp_1')
  })
})

describe('a read', () => {
  it('is tried again after a 5xx, a reset and a page of HTML', async () => {
    let calls = 0
    const server = await serve((_, response) => {
      calls++
      if (calls === 1) response.writeHead(502).end('<html>')
      else if (calls === 2) response.socket?.resetAndDestroy()
      else json(response, 200, { id: 'ipp_1' })
    })
    expect(await clientFor(server.url).get(ipPolicies, 'ipp_1')).toEqual({ id: 'ipp_1' })
    expect(calls).toBe(3)
  })

  it('is given up after three tries', async () => {
    const server = await serve((_, response) => apiError(response, 500, 'broken'))
    expect(await failure(clientFor(server.url).get(ipPolicies, 'ipp_1'))).toMatchObject({ code: 'ServerError' })
    expect(server.requests).toHaveLength(3)
  })

  it('is not tried again after a 4xx', async () => {
    const server = await serve((_, response) => apiError(response, 403, 'no'))
    await failure(clientFor(server.url).get(ipPolicies, 'ipp_1'))
    expect(server.requests).toHaveLength(1)
  })

  it('is tried again after a 429, no sooner than it asks', async () => {
    const at: number[] = []
    const server = await serve((_, response) => {
      at.push(performance.now())
      if (at.length === 1) apiError(response, 429, 'slow down', { 'retry-after': '1' })
      else json(response, 200, { id: 'ipp_1' })
    })
    await clientFor(server.url).get(ipPolicies, 'ipp_1')
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(995)
  })

  it('is left to the caller when a 429 asks for a long wait', async () => {
    const server = await serve((_, response) => apiError(response, 429, 'slow down', { 'retry-after': '300' }))
    const error = await failure(clientFor(server.url).get(ipPolicies, 'ipp_1'))
    expect(error).toMatchObject({ code: 'RateLimited', retryAfterMs: 300_000 })
    expect(server.requests).toHaveLength(1)
  })
})
