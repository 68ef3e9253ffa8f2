import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ClosableKubeClient, createKubeClient, type KubeClientOptions } from '../../../src/kube/client.ts'
import { KubeError, type KubeErrorCode } from '../../../src/kube/kube-error.ts'
import type { KubeConnection } from '../../../src/kube/load-config.ts'
import type { KubeRequestObservation } from '../../../src/kube/transport.ts'
import type { KubeObject, ResourceType, WatchFrame } from '../../../src/kube/types.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import {
  type FakeKubeServer,
  type KubeHandler,
  openWatch,
  sendFrame,
  sendJson,
  sendList,
  sendStatus,
  startFakeKubeServer,
} from '../../builders/fake-kube-server.ts'

const edges: ResourceType = {
  group: 'culvert.dev',
  version: 'v1alpha1',
  plural: 'edges',
  kind: 'Edge',
  namespaced: true,
}
const secrets: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
  metadataOnly: true,
}
const key = { namespace: 'shop', name: 'front' }
const path = '/apis/culvert.dev/v1alpha1/namespaces/shop/edges'

function edge(resourceVersion = '7', extra: Record<string, unknown> = {}) {
  return { metadata: { name: 'front', namespace: 'shop', uid: 'u1', resourceVersion, managedFields: [{}] }, ...extra }
}

let server: FakeKubeServer
let clock: FakeClock
let clients: ClosableKubeClient[]

beforeEach(async () => {
  server = await startFakeKubeServer()
  clock = new FakeClock()
  clients = []
})

afterEach(async () => {
  await Promise.all(clients.map((each) => each.close()))
  await server[Symbol.asyncDispose]()
})

function client(options: Partial<KubeClientOptions> = {}): ClosableKubeClient {
  const created = createKubeClient({ connection: server.connection, clock, random: systemRandom, ...options })
  clients.push(created)
  return created
}

async function codeOf(call: Promise<unknown>): Promise<KubeErrorCode> {
  try {
    await call
  } catch (error) {
    if (error instanceof KubeError) return error.code
    throw error
  }
  throw new Error('the call succeeded')
}

async function collect(frames: AsyncIterable<WatchFrame<KubeObject>>): Promise<WatchFrame<KubeObject>[]> {
  const collected: WatchFrame<KubeObject>[] = []
  for await (const frame of frames) collected.push(frame)
  return collected
}

describe('reading', () => {
  test('an object keeps every field but the managed ones', async () => {
    server.handle((_request, response) => sendJson(response, 200, edge('7', { spec: { unknown: [1, { a: null }] } })))
    expect(await client().get(edges, key)).toEqual({
      apiVersion: 'culvert.dev/v1alpha1',
      kind: 'Edge',
      metadata: { name: 'front', namespace: 'shop', uid: 'u1', resourceVersion: '7' },
      spec: { unknown: [1, { a: null }] },
    })
    expect(server.requests[0]?.path).toBe(`${path}/front`)
    expect(server.requests[0]?.headers.authorization).toBe('Bearer fake-token')
  })

  test('an object that is not there is undefined', async () => {
    server.handle((_request, response) => sendStatus(response, 404, 'NotFound', 'gone'))
    expect(await client().get(edges, key)).toBeUndefined()
  })

  describe('a 404 without a Status', () => {
    const page = (response: Parameters<KubeHandler>[1]) => void response.writeHead(404).end('404 page not found')

    test('says nothing of an object of the core group', async () => {
      server.handle((_request, response) => page(response))
      expect(await codeOf(client().get(secrets, key))).toBe('Unavailable')
      expect(await codeOf(client().delete(secrets, key))).toBe('Unavailable')
    })

    test('says nothing where everything is answered so', async () => {
      server.handle((_request, response) => page(response))
      expect(await codeOf(client().get(edges, key))).toBe('Unavailable')
      expect(await codeOf(client().serves(edges))).toBe('Unavailable')
    })

    test.each([
      ['of a group that is not installed', { '/apis': { groups: [{ name: 'apps' }] } }],
      ['of a kind that is not installed', { '/apis/culvert.dev/v1alpha1': { resources: [{ name: 'backends' }] } }],
      [
        'of a version that is not installed',
        { '/apis': { groups: [{ name: 'culvert.dev', versions: [{ version: 'v1' }] }] } },
      ],
    ] as const)("is an object's absence %s", async (_title, discovery: Readonly<Record<string, object>>) => {
      server.handle(({ path: asked }, response) => {
        const found = discovery[asked]
        if (found === undefined) page(response)
        else sendJson(response, 200, found)
      })
      expect(await client().get(edges, key)).toBeUndefined()
      expect(await client().delete(edges, key)).toBe(false)
      expect(await client().serves(edges)).toBe(false)
    })

    test('says nothing of an object whose kind is installed', async () => {
      server.handle(({ path: asked }, response) => {
        if (asked === '/apis/culvert.dev/v1alpha1') sendJson(response, 200, { resources: [{ name: 'edges' }] })
        else page(response)
      })
      expect(await codeOf(client().get(edges, key))).toBe('Unavailable')
    })

    test('says nothing where discovery contradicts itself', async () => {
      server.handle(({ path: asked }, response) => {
        const groups = [{ name: 'culvert.dev', versions: [{ version: 'v1alpha1' }] }]
        if (asked === '/apis') sendJson(response, 200, { groups })
        else page(response)
      })
      expect(await codeOf(client().get(edges, key))).toBe('Unavailable')
    })
  })

  test('a list gives its items their type and passes its page options on', async () => {
    server.handle((_request, response) => sendList(response, '90', [edge()], 'next'))
    const list = await client().list(edges, { namespace: 'shop', limit: 500, labelSelector: 'a=b' })
    expect(list).toMatchObject({ resourceVersion: '90', continue: 'next', items: [{ kind: 'Edge' }] })
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({ limit: '500', labelSelector: 'a=b' })
  })

  test('metadata-only types ask for nothing but metadata in gets, lists and watches', async () => {
    server.handle((request, response) => {
      if (request.query.has('watch')) {
        openWatch(response)
        response.end()
      } else if (request.path.endsWith('/secrets')) sendList(response, '1', [])
      else sendJson(response, 200, edge())
    })
    const kube = client()
    const object = await kube.get(secrets, key)
    await kube.list(secrets)
    await collect(
      kube.watch(secrets, { resourceVersion: '1', timeoutSeconds: 1, signal: new AbortController().signal }),
    )
    expect(server.requests.map((request) => request.headers.accept)).toEqual([
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    ])
    expect(object?.kind).toBe('Secret')
  })

  test('calls one after another reuse kept-alive connections', async () => {
    server.handle((_request, response) => sendJson(response, 200, edge()))
    const kube = client()
    for (let call = 0; call < 20; call++) await kube.get(edges, key)
    expect(server.accepted).toBeLessThanOrEqual(2)
  })

  test('is retried after 429, 5xx and a reset, no sooner than Retry-After says', async () => {
    const failures: ((response: Parameters<typeof sendJson>[0]) => void)[] = [
      (response) => sendStatus(response, 429, 'TooManyRequests', 'slow down', { headers: { 'retry-after': '3' } }),
      (response) => sendStatus(response, 503, 'ServiceUnavailable', 'starting'),
      (response) => response.destroy(),
    ]
    server.handle((_request, response) => {
      const fail = failures.shift()
      if (fail === undefined) sendJson(response, 200, edge())
      else fail(response)
    })
    const got = client().get(edges, key)
    await vi.waitFor(() => expect(clock.nextTimerIn).toBe(3000))
    await clock.advance(2999)
    expect(server.requests).toHaveLength(1)
    for (let requests = 2; requests <= 4; requests++) {
      await clock.advance(3000)
      await vi.waitFor(() => expect(server.requests).toHaveLength(requests))
      if (requests < 4) await vi.waitFor(() => expect(clock.nextTimerIn).toBeLessThan(3000))
    }
    expect(await got).toMatchObject({ metadata: { uid: 'u1' } })
  })

  test('gives up when the caller aborts', async () => {
    server.handle(() => undefined)
    const controller = new AbortController()
    const got = codeOf(client().get(edges, key, controller.signal))
    await vi.waitFor(() => expect(server.requests).toHaveLength(1))
    controller.abort()
    expect(await got).toBe('Aborted')
  })

  test('no more calls are in flight than allowed', async () => {
    const waiting: (() => void)[] = []
    server.handle((_request, response) => void waiting.push(() => sendJson(response, 200, edge())))
    const kube = client({ maxConcurrent: 2 })
    const calls = [1, 2, 3].map(() => kube.get(edges, key))
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    expect(server.requests).toHaveLength(2)
    waiting.shift()?.()
    await vi.waitFor(() => expect(server.requests).toHaveLength(3))
    for (const answer of waiting) answer()
    await Promise.all(calls)
  })
})

describe('writing', () => {
  test('a merge patch carries its preconditions inside the patch', async () => {
    server.handle((_request, response) => sendJson(response, 200, edge('8')))
    const patch = { metadata: { finalizers: ['culvert.dev/remote'] }, status: { id: 'e1' } }
    await client().mergePatch(edges, key, patch, { subresource: 'status', resourceVersion: '7', uid: 'u1' })
    const [request] = server.requests
    expect(request).toMatchObject({ method: 'PATCH', path: `${path}/front/status` })
    expect(request?.headers['content-type']).toBe('application/merge-patch+json')
    expect(request?.query.get('fieldManager')).toBe('culvert')
    expect(JSON.parse(request?.body ?? '')).toEqual({
      metadata: { finalizers: ['culvert.dev/remote'], resourceVersion: '7', uid: 'u1' },
      status: { id: 'e1' },
    })
  })

  test('server-side apply names the field manager and completes the object', async () => {
    server.handle((_request, response) => sendJson(response, 200, edge('8')))
    await client().apply(edges, key, { spec: {} }, { force: true })
    const [request] = server.requests
    expect(request?.headers['content-type']).toBe('application/apply-patch+yaml')
    expect(Object.fromEntries(request?.query ?? [])).toEqual({ fieldManager: 'culvert', force: 'true' })
    expect(JSON.parse(request?.body ?? '')).toEqual({
      apiVersion: 'culvert.dev/v1alpha1',
      kind: 'Edge',
      metadata: { name: 'front', namespace: 'shop' },
      spec: {},
    })
  })

  test('a delete carries its preconditions and says whether there was anything to delete', async () => {
    const kube = client()
    server.handle((_request, response) => sendJson(response, 200, { kind: 'Status', status: 'Success' }))
    expect(await kube.delete(edges, key, { uid: 'u1' })).toBe(true)
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ preconditions: { uid: 'u1' } })
    server.handle((_request, response) => sendStatus(response, 404, 'NotFound', 'gone'))
    expect(await kube.delete(edges, key)).toBe(false)
  })

  test.each([429, 500, 503])('is never sent twice after a %d', async (status) => {
    server.handle((_request, response) => sendStatus(response, status, 'Trouble', 'no'))
    await codeOf(client().create(edges, key, {}))
    expect(server.requests).toHaveLength(1)
  })

  test('is never sent twice after a reset', async () => {
    server.handle((_request, response) => void response.destroy())
    expect(await codeOf(client().mergePatch(edges, key, {}))).toBe('Network')
    expect(server.requests).toHaveLength(1)
  })

  test('is kept from being sent once leadership is lost', async () => {
    const beforeWrite = () => {
      throw new KubeError('NotLeader', 'another process leads')
    }
    expect(await codeOf(client({ beforeWrite }).create(edges, key, {}))).toBe('NotLeader')
    expect(server.requests).toHaveLength(0)
  })

  test('times out after its own time-out', async () => {
    server.handle(() => undefined)
    const patched = codeOf(client({ writeTimeoutMs: 4000 }).mergePatch(edges, key, {}))
    await vi.waitFor(() => expect(server.requests).toHaveLength(1))
    await clock.advance(4000)
    expect(await patched).toBe('Timeout')
  })

  test('is refused without a name or namespace, which would address other objects', async () => {
    await expect(client().delete(edges, { namespace: 'shop', name: '' })).rejects.toThrow(TypeError)
    await expect(client().mergePatch(edges, { name: 'front' }, {})).rejects.toThrow(TypeError)
    expect(server.requests).toHaveLength(0)
  })

  test.each([
    '.',
    '..',
    '../configmaps/other',
    '../../../namespaces/kube-system/secrets/token',
    'front/status',
    '..%2f',
    'a\\b',
    'front\n',
    '\ud800',
  ])(
    '%j, which no object can have for a name, is never sent: none of that name exists, and none is written',
    async (name) => {
      const wrong = { namespace: 'shop', name }
      expect(await client().get(secrets, wrong)).toBeUndefined()
      for (const write of [
        () => client().create(secrets, wrong, {}),
        () => client().mergePatch(secrets, wrong, {}),
        () => client().apply(secrets, wrong, {}),
        () => client().delete(secrets, wrong),
      ]) {
        await expect(write()).rejects.toMatchObject({ code: 'Invalid' })
      }
      expect(server.requests).toHaveLength(0)
    },
  )
})

describe('failures', () => {
  test.each<[number, string, KubeErrorCode]>([
    [400, 'BadRequest', 'Invalid'],
    [401, 'Unauthorized', 'Unauthorized'],
    [403, 'Forbidden', 'Forbidden'],
    [404, 'NotFound', 'NotFound'],
    [409, 'AlreadyExists', 'AlreadyExists'],
    [409, 'Conflict', 'Conflict'],
    [410, 'Expired', 'Gone'],
    [422, 'Invalid', 'Invalid'],
    [429, 'TooManyRequests', 'TooManyRequests'],
    [500, 'InternalError', 'Unavailable'],
    [504, 'Timeout', 'Timeout'],
  ])('%d %s is %s', async (status, reason, code) => {
    server.handle((_request, response) => sendStatus(response, status, reason, 'words of the server'))
    expect(await codeOf(client().create(edges, key, {}))).toBe(code)
  })

  test('a patch meant for a former namesake is a conflict', async () => {
    const details = { causes: [{ field: 'metadata.uid', reason: 'FieldValueInvalid' }] }
    server.handle((_request, response) => sendStatus(response, 422, 'Invalid', 'field is immutable', { details }))
    expect(await codeOf(client().mergePatch(edges, key, {}, { uid: 'other' }))).toBe('Conflict')
  })

  test('tell the message of the Status and nothing else of request and response', async () => {
    server.handle((_request, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>secret page</html>')
    })
    const error = await client()
      .create(edges, key, { stringData: { token: 'hidden' } })
      .catch((caught: unknown) => caught)
    expect(String(error)).toBe(`KubeError: POST ${path}: HTTP 502`)
  })

  test('a 2xx that is not JSON does not quote the body', async () => {
    server.handle((_request, response) => void response.writeHead(200).end('hidden'))
    const error = await client()
      .create(edges, key, {})
      .catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'Unexpected', cause: undefined })
    expect(String(error)).not.toContain('hidden')
  })

  test('refused credentials are fetched anew once', async () => {
    let token = 'old'
    const connection = {
      ...server.connection,
      material: () => Promise.resolve({ headers: { authorization: `Bearer ${token}` }, tls: {} }),
      reload: () => {
        token = 'new'
      },
    }
    server.handle((request, response) => {
      if (request.headers.authorization === 'Bearer new') sendJson(response, 201, edge())
      else sendStatus(response, 401, 'Unauthorized', 'Unauthorized')
    })
    await client({ connection }).create(edges, key, {})
    expect(server.requests).toHaveLength(2)
  })

  test('a credential plugin that hangs ends with the time-out, and is not waited for forever', async () => {
    let material = (): ReturnType<KubeConnection['material']> => new Promise(() => undefined)
    const connection = { ...server.connection, material: () => material() }
    const kube = client({ connection })
    const created = codeOf(kube.create(edges, key, {}))
    await clock.untilTimers()
    await clock.advance(10_000)
    expect(await created).toBe('Timeout')
    material = server.connection.material
    await clock.advance(20_000)
    server.handle((_request, response) => sendJson(response, 201, edge()))
    expect(await kube.create(edges, key, {})).toBeDefined()
  })

  test('every call after close is aborted', async () => {
    const kube = client()
    await kube.close()
    expect(await codeOf(kube.get(edges, key))).toBe('Aborted')
  })
})

describe('watching', () => {
  const options = { resourceVersion: '5', timeoutSeconds: 300, signal: new AbortController().signal }

  test('frames cut in the middle of a character arrive whole, bookmarks among them', async () => {
    const bytes = Buffer.from(
      [
        { type: 'ADDED', object: edge('6', { spec: { description: 'Straße – 日本 🚇' } }) },
        { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } },
        { type: 'DELETED', object: edge('10') },
      ]
        .map((frame) => `${JSON.stringify(frame)}\n`)
        .join(''),
    )
    server.handle(async (_request, response) => {
      openWatch(response)
      for (let start = 0; start < bytes.length; start += 7) {
        if (!response.write(bytes.subarray(start, start + 7))) await once(response, 'drain')
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
    const frames = await collect(client().watch(edges, options))
    expect(frames).toMatchObject([
      { type: 'added', object: { kind: 'Edge', spec: { description: 'Straße – 日本 🚇' } } },
      { type: 'bookmark', resourceVersion: '9' },
      { type: 'deleted', object: { metadata: { resourceVersion: '10' } } },
    ])
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: '5',
      timeoutSeconds: '300',
    })
  })

  test('an expired resourceVersion is Gone, said by status or by frame', async () => {
    server.handle((_request, response) => sendStatus(response, 410, 'Expired', 'too old'))
    expect(await codeOf(collect(client().watch(edges, options)))).toBe('Gone')
    server.handle((_request, response) => {
      openWatch(response)
      sendFrame(response, 'ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })
    })
    expect(await codeOf(collect(client().watch(edges, options)))).toBe('Gone')
  })

  test('a connection cut within a frame is a network failure', async () => {
    server.handle((_request, response) => {
      openWatch(response)
      response.write('{"type":"ADDED","obj', () => response.destroy())
    })
    expect(await codeOf(collect(client().watch(edges, options)))).toBe('Network')
  })

  test('ends quietly when aborted, and lets go of the connection', async () => {
    const closed = Promise.withResolvers<void>()
    server.handle((_request, response) => {
      response.on('close', closed.resolve)
      openWatch(response)
      sendFrame(response, 'ADDED', edge())
    })
    const controller = new AbortController()
    const frames: string[] = []
    for await (const frame of client().watch(edges, { ...options, signal: controller.signal })) {
      frames.push(frame.type)
      controller.abort()
    }
    expect(frames).toEqual(['added'])
    await closed.promise
  })

  test('a consumer that stops early lets go of the connection', async () => {
    const closed = Promise.withResolvers<void>()
    server.handle((_request, response) => {
      response.on('close', closed.resolve)
      openWatch(response)
      sendFrame(response, 'ADDED', edge())
    })
    for await (const _frame of client().watch(edges, options)) break
    await closed.promise
  })

  test('does not take a place of the concurrency cap', async () => {
    server.handle((request, response) => {
      if (request.query.has('watch')) {
        openWatch(response)
        sendFrame(response, 'ADDED', edge())
      } else sendJson(response, 200, edge())
    })
    const kube = client({ maxConcurrent: 1 })
    for await (const _frame of kube.watch(edges, options)) {
      expect(await kube.get(edges, key)).toBeDefined()
      break
    }
  })
})

test('each request is reported once with its verb, resource and result', async () => {
  const seen: KubeRequestObservation[] = []
  const kube = client({ onRequest: (observation) => seen.push(observation) })
  server.handle((_request, response) => sendJson(response, 200, edge()))
  await kube.get(edges, key)
  server.handle((_request, response) => void response.destroy())
  await codeOf(kube.create(edges, key, {}))
  expect(seen).toMatchObject([
    { verb: 'get', resource: 'edges', code: '200' },
    { verb: 'create', resource: 'edges', code: 'Network' },
  ])
})
