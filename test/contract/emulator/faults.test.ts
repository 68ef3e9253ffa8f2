import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'

let emulator: Emulator
let client: EmulatorClient
let admin: EmulatorClient

beforeEach(async () => {
  emulator = await startEmulator()
  client = EmulatorClient.of(emulator)
  admin = new EmulatorClient(emulator.adminUrl, emulator.adminToken)
})

afterEach(() => emulator.close())

const create = { method: 'POST', path: '/ip_policies' }

async function fault(spec: unknown): Promise<string> {
  const answer = await admin.post('/faults', spec)
  expect(answer.status).toBe(201)
  return String(answer.body.id)
}

async function count(): Promise<number> {
  const { body } = await client.get('/ip_policies')
  return Number(at(body, 'ip_policies', 'length'))
}

describe('faults', () => {
  it('act on the nth matching request only', async () => {
    const id = await fault({ match: { ...create, nth: 2 }, act: { type: 'status', status: 503 } })
    const statuses = []
    for (let call = 0; call < 3; call += 1) statuses.push((await client.post('/ip_policies', {})).status)
    expect(statuses).toEqual([201, 503, 201])
    expect((await admin.get(`/faults/${id}`)).body).toMatchObject({ matches: 3, hits: 1 })
  })

  it('act on so many requests, or on every one', async () => {
    await fault({ match: { ...create, times: 2 }, act: { type: 'status', status: 500 } })
    await fault({ match: { method: 'GET', path: '/ip_*', every: true }, act: { type: 'status', status: 502 } })
    const posts = []
    const gets = []
    for (let call = 0; call < 3; call += 1) {
      posts.push((await client.post('/ip_policies', {})).status)
      gets.push((await client.get('/ip_policy_rules')).status)
    }
    expect(posts).toEqual([500, 500, 201])
    expect(gets).toEqual([502, 502, 502])
  })

  it('match paths by regular expression as well, and globs segment by segment', async () => {
    await fault({ match: { pathPattern: '^/edges/(tcp|tls)$' }, act: { type: 'status', status: 500 } })
    await fault({ match: { path: '/backends/*', every: true }, act: { type: 'status', status: 500 } })
    expect((await client.get('/edges/tls')).status).toBe(500)
    expect((await client.get('/backends/weighted')).status).toBe(500)
    expect((await client.get('/backends/weighted/bkdwd_1')).status).toBe(404)
  })

  it('with a status answer the usual error body, Retry-After, or what was given', async () => {
    await fault({ match: create, act: { type: 'status', status: 429, retryAfter: 7 } })
    const limited = await client.post('/ip_policies', {})
    expect(limited.headers.get('retry-after')).toBe('7')
    expect(limited.body).toMatchObject({ status_code: 429, details: { operation_id: expect.any(String) } })

    await fault({ match: create, act: { type: 'status', status: 400, body: { own: true } } })
    expect((await client.post('/ip_policies', {})).body).toEqual({ own: true })

    await fault({ match: create, act: { type: 'status', status: 502, html: '<h1>Bad gateway</h1>' } })
    await expect(client.post('/ip_policies', {})).rejects.toThrow(SyntaxError)
    expect(await count()).toBe(0)
  })

  it('commit, then answer with a status of their own: the object exists', async () => {
    await fault({ match: create, act: { type: 'status', status: 500, when: 'after' } })
    const failed = await client.post('/ip_policies', {})
    expect(failed.status).toBe(500)
    expect(failed.body).toMatchObject({
      status_code: 500,
      details: { operation_id: failed.headers.get('operation-id') },
    })

    await fault({ match: create, act: { type: 'status', status: 502, html: '<h1>Bad gateway</h1>', when: 'after' } })
    await expect(client.post('/ip_policies', {})).rejects.toThrow(SyntaxError)
    expect(await count()).toBe(2)
  })

  it('drop a request unread: nothing is created', async () => {
    await fault({ match: create, act: { type: 'drop' } })
    await expect(client.post('/ip_policies', {})).rejects.toThrow('fetch failed')
    expect(await count()).toBe(0)
  })

  it('commit, then drop the answer: the object exists', async () => {
    await fault({ match: create, act: { type: 'commit-then-drop' } })
    await expect(client.post('/ip_policies', {})).rejects.toThrow('fetch failed')
    expect(await count()).toBe(1)
    const [entry] = emulator.admin.journal()
    expect(entry).toMatchObject({ status: 201, answeredSeq: null, fault: 'fault_1' })
  })

  it('commit, then answer late: the object exists before the answer', async () => {
    const id = await fault({ match: create, act: { type: 'commit-then-late', ms: 100 } })
    const answer = client.post('/ip_policies', {})
    await emulator.admin.waitForFault(id)
    expect(await count()).toBe(1)
    expect((await answer).status).toBe(201)
  })

  it('truncate: the answer ends halfway through its body', async () => {
    await fault({ match: create, act: { type: 'truncate' } })
    const response = await fetch(`${emulator.url}/ip_policies`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${emulator.apiKey}`,
        'service-version': '2',
        'content-type': 'application/json',
      },
      body: '{}',
    })
    expect(response.status).toBe(201)
    await expect(response.text()).rejects.toThrow('terminated')
    expect(await count()).toBe(1)
  })

  it('answer twice: the same answer comes twice on the connection, for one object', async () => {
    await fault({ match: create, act: { type: 'answer-twice' } })
    const { port } = new URL(emulator.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST /ip_policies HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${emulator.apiKey}\r\nservice-version: 2\r\n` +
        'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
    )
    let received = ''
    for await (const chunk of socket) {
      received += String(chunk)
      if (received.split('HTTP/1.1 201 Created').length === 3 && received.endsWith('}')) break
    }
    const bodies = received.match(/\{"id":.*?\}/g)
    expect(bodies).toHaveLength(2)
    expect(bodies?.[0]).toBe(bodies?.[1])
    expect(await count()).toBe(1)
  })

  it('delay: the request is processed late, also when the caller has gone', async () => {
    const id = await fault({ match: create, act: { type: 'delay', ms: 50 } })
    const gone = new AbortController()
    const answer = client.post('/ip_policies', {}, { signal: gone.signal })
    await emulator.admin.waitForFault(id)
    expect(await count()).toBe(0)
    gone.abort()
    await expect(answer).rejects.toThrow()
    await expect.poll(count).toBe(1)
  })

  it('hang before processing until released', async () => {
    const id = await fault({ match: create, act: { type: 'hang' } })
    const answer = client.post('/ip_policies', {})
    const hit = await admin.get(`/faults/${id}/wait?hits=1`)
    expect(hit.body).toMatchObject({ id, hits: 1 })
    expect(await count()).toBe(0)
    await admin.post(`/faults/${id}/release`, undefined)
    expect((await answer).status).toBe(201)
  })

  it('hang before processing: a caller that went away never asked', async () => {
    const id = await fault({ match: create, act: { type: 'hang' } })
    const gone = new AbortController()
    const answer = client.post('/ip_policies', {}, { signal: gone.signal })
    await emulator.admin.waitForFault(id)
    gone.abort()
    await expect(answer).rejects.toThrow()
    emulator.admin.deleteFault(id)
    await client.create('/ip_policies')
    expect(await count()).toBe(1)
  })

  it('hang before processing: a request that outlives its caller is processed on release', async () => {
    const id = await fault({ match: create, act: { type: 'hang', outlives: true } })
    const gone = new AbortController()
    const answer = client.post('/ip_policies', {}, { signal: gone.signal })
    await emulator.admin.waitForFault(id)
    gone.abort()
    await expect(answer).rejects.toThrow()
    expect(await count()).toBe(0)
    emulator.admin.releaseFault(id)
    await vi.waitFor(async () => expect(await count()).toBe(1))
  })

  it('hang after processing: the object exists while the answer is held back', async () => {
    const id = await fault({ match: create, act: { type: 'hang', when: 'after' } })
    const answer = client.post('/ip_policies', {})
    await emulator.admin.waitForFault(id)
    expect(await count()).toBe(1)
    await admin.delete(`/faults/${id}`)
    expect((await answer).status).toBe(201)
  })

  it('stale list: shows the collection as it was', async () => {
    const kept = await client.create('/ip_policies', { description: 'first' })
    const deleted = await client.create('/ip_policies')
    emulator.admin.advanceClock(100)
    await client.patch(`/ip_policies/${kept}`, { description: 'second' })
    await client.delete(`/ip_policies/${deleted}`)
    await client.create('/ip_policies')
    await fault({ match: { method: 'GET', path: '/ip_policies', times: 2 }, act: { type: 'stale-list', seconds: 50 } })

    const first = await client.get('/ip_policies?limit=1')
    expect(at(first.body, 'ip_policies', 0, 'id')).toBe(deleted)
    const second = await client.get(String(first.body.next_page_uri))
    expect(at(second.body, 'ip_policies', 0)).toMatchObject({ id: kept, description: 'first' })
    expect(second.body.next_page_uri).toBeNull()
    expect(await count()).toBe(2)
  })

  it.each([
    { type: 'hang', when: 'before' },
    { type: 'hang', when: 'after' },
    { type: 'commit-then-late', ms: 3_600_000 },
  ] as const)('end with the emulator: a request held by %j is cut off', async (act) => {
    const other = await startEmulator()
    const { id } = other.admin.addFault({ act })
    const refused = expect(EmulatorClient.of(other).post('/ip_policies', {})).rejects.toThrow('fetch failed')
    await other.admin.waitForFault(id)
    await other.close()
    await refused
  })

  it('are listed, deleted one by one or all, and unknown ones are 404', async () => {
    const id = await fault({ act: { type: 'drop' } })
    expect(at((await admin.get('/faults')).body, 'faults', 0, 'id')).toBe(id)
    expect((await admin.delete(`/faults/${id}`)).status).toBe(204)
    expect((await admin.get(`/faults/${id}`)).status).toBe(404)
    expect((await admin.get(`/faults/${id}/wait`)).status).toBe(404)
    await fault({ act: { type: 'drop' } })
    expect((await admin.delete('/faults')).status).toBe(204)
    expect(await count()).toBe(0)
  })

  it.each([
    [{ act: { type: 'explode' } }, 'act.type'],
    [{ act: { type: 'delay' } }, 'act.ms'],
    [{ match: { path: '/x', nth: 0 }, act: { type: 'drop' } }, 'fault.match.nth'],
    [{ match: { pathPattern: '(' }, act: { type: 'drop' } }, 'match.pathPattern'],
    [{ match: { verb: 'GET' }, act: { type: 'drop' } }, 'fault.match.verb'],
  ])('refuse %j, naming the member', async (spec, field) => {
    const answer = await admin.post('/faults', spec)
    expect(answer.status).toBe(400)
    expect(answer.body.details).toMatchObject({ field })
  })
})
