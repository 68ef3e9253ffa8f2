import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ClosableKubeClient, createKubeClient } from '../../../src/kube/client.ts'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { Reflector, type ReflectorOptions } from '../../../src/runtime/reflector.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import {
  type FakeKubeServer,
  openWatch,
  type SeenRequest,
  sendFrame,
  sendList,
  sendStatus,
  startFakeKubeServer,
} from '../../builders/fake-kube-server.ts'
import { createSilentLogger } from '../../builders/silent-logger.ts'

const things: ResourceType = { group: 'g.dev', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true }

function thing(name: string, resourceVersion: number, options: { namespace?: string; uid?: string } = {}) {
  const { namespace = 'shop', uid = `${name}-1` } = options
  return { metadata: { name, namespace, uid, resourceVersion: String(resourceVersion) } }
}

let server: FakeKubeServer
let clock: FakeClock
let client: ClosableKubeClient
let stop: AbortController
let running: Promise<void>[]
/** Open watches, oldest first. */
let watches: { request: SeenRequest; response: ServerResponse }[]
/** Answers one list. */
let answerList: (request: SeenRequest, response: ServerResponse) => void

beforeEach(async () => {
  clock = new FakeClock()
  stop = new AbortController()
  running = []
  watches = []
  answerList = (_request, response) => sendList(response, '10', [])
  server = await startFakeKubeServer((request, response) => {
    if (!request.query.has('watch')) return answerList(request, response)
    openWatch(response)
    watches.push({ request, response })
  })
  // Without its own retries, so that the reflector sees every failure.
  client = createKubeClient({ connection: server.connection, clock, random: systemRandom, maxRetries: 0 })
})

afterEach(async () => {
  stop.abort()
  await Promise.all(running)
  await client.close()
  await server[Symbol.asyncDispose]()
})

function start(options: Partial<ReflectorOptions> = {}) {
  const logger = createSilentLogger()
  const codes: string[] = []
  const events: string[] = []
  const reflector = new Reflector<KubeObject>({
    client,
    type: things,
    clock,
    random: systemRandom,
    logger,
    onError: ({ code }) => codes.push(code),
    ...options,
  })
  reflector.subscribe(({ type, object: { metadata } }) =>
    events.push(`${type} ${metadata.name} ${metadata.resourceVersion}`),
  )
  running.push(reflector.start(stop.signal))
  return { reflector, codes, events, logger }
}

async function watchOpened(count: number) {
  await vi.waitFor(() => expect(watches).toHaveLength(count))
  const last = watches[count - 1]
  if (last === undefined) throw new Error('unreachable')
  return last
}

/** Advances by the reflector's pause after its `failures`-th failure. */
async function retryAfter(codes: string[], failures: number) {
  await vi.waitFor(() => expect(codes).toHaveLength(failures))
  // The only timer left: timeouts and watchdogs of failed requests are gone.
  await vi.waitFor(() => expect(clock.pendingTimers).toBe(1))
  await clock.advance(clock.nextTimerIn ?? 0)
}

function names(reflector: Reflector<KubeObject>): string[] {
  return reflector.store
    .list()
    .map(({ metadata }) => metadata.name)
    .sort((a, b) => a.localeCompare(b))
}

describe('listing', () => {
  test('follows pages of 500 and watches from the resourceVersion of the list, with bookmarks', async () => {
    answerList = (request, response) =>
      request.query.get('continue') === 'two'
        ? sendList(response, '10', [thing('b', 2)])
        : sendList(response, '10', [thing('a', 1)], 'two')
    const { reflector } = start()
    await reflector.synced
    expect(names(reflector)).toEqual(['a', 'b'])
    expect(server.requests[0]?.query.get('limit')).toBe('500')
    expect(server.requests[0]?.query.has('resourceVersion')).toBe(false)
    const { request } = await watchOpened(1)
    expect(request.query.get('resourceVersion')).toBe('10')
    expect(request.query.get('allowWatchBookmarks')).toBe('true')
  })

  test('lists everything at once when the pages expire in between', async () => {
    answerList = (request, response) => {
      if (request.query.has('continue')) sendStatus(response, 410, 'Expired', 'too old')
      else if (request.query.has('limit')) sendList(response, '10', [thing('a', 1)], 'two')
      else sendList(response, '20', [thing('a', 1), thing('b', 15)])
    }
    const { reflector } = start()
    await reflector.synced
    expect(names(reflector)).toEqual(['a', 'b'])
    expect((await watchOpened(1)).request.query.get('resourceVersion')).toBe('20')
  })

  test.each([
    ['forbidden', (response: ServerResponse) => sendStatus(response, 403, 'Forbidden', 'no')],
    [
      'not found, its definition missing still',
      (response: ServerResponse) => sendStatus(response, 404, 'NotFound', 'no'),
    ],
    ['refused by a broken server', (response: ServerResponse) => sendStatus(response, 500, 'InternalError', 'no')],
    ['cut off', (response: ServerResponse) => void response.destroy()],
  ])('is tried again without end when %s', async (_name, fail) => {
    let lists = 0
    answerList = (_request, response) => {
      if (++lists <= 8) fail(response)
      else sendList(response, '10', [thing('a', 1)])
    }
    const { reflector, codes } = start()
    for (let failures = 1; failures <= 8; failures++) await retryAfter(codes, failures)
    await reflector.synced
    expect(names(reflector)).toEqual(['a'])
  })

  test('has synced once every namespace was listed', async () => {
    const held: (() => void)[] = []
    answerList = (request, response) => {
      const namespace = request.path.split('/')[5] ?? ''
      held.push(() => sendList(response, '10', [thing('a', 1, { namespace })]))
    }
    const { reflector } = start({ namespaces: ['shop', 'office'] })
    await vi.waitFor(() => expect(held).toHaveLength(2))
    held[0]?.()
    await watchOpened(1)
    expect(reflector.hasSynced).toBe(false)
    held[1]?.()
    await reflector.synced
    expect(reflector.store.get({ namespace: 'office', name: 'a' })).toBeDefined()
    expect(reflector.store.size).toBe(2)
  })

  test('says why when it is stopped before it synced', async () => {
    answerList = () => undefined
    const { reflector } = start()
    stop.abort(new Error('shutting down'))
    await expect(reflector.synced).rejects.toThrow('shutting down')
  })
})

describe('watching', () => {
  test('continues where it was when the server ends a watch in time', async () => {
    const { reflector, codes } = start()
    const first = await watchOpened(1)
    sendFrame(first.response, 'ADDED', thing('a', 12))
    sendFrame(first.response, 'BOOKMARK', { metadata: { resourceVersion: '40' } })
    first.response.end()
    const second = await watchOpened(2)
    expect(second.request.query.get('resourceVersion')).toBe('40')
    expect(names(reflector)).toEqual(['a'])
    expect(codes).toEqual([])
  })

  test('opens the watch again after a reset within a frame, losing nothing', async () => {
    const { events, codes } = start()
    const first = await watchOpened(1)
    sendFrame(first.response, 'ADDED', thing('a', 12))
    await vi.waitFor(() => expect(events).toHaveLength(1))
    first.response.write('{"type":"MODIFIED","object":{"meta', () => first.response.destroy())
    await retryAfter(codes, 1)
    const second = await watchOpened(2)
    expect(second.request.query.get('resourceVersion')).toBe('12')
    sendFrame(second.response, 'MODIFIED', thing('a', 13))
    await vi.waitFor(() => expect(events).toEqual(['added a 12', 'updated a 13']))
    expect(codes).toEqual(['Network'])
  })

  test.each([
    ['status', (response: ServerResponse) => sendStatus(response, 410, 'Expired', 'too old')],
    [
      'frame',
      (response: ServerResponse) => {
        openWatch(response)
        sendFrame(response, 'ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })
      },
    ],
  ])('lists again after a 410 by %s, and notices what was deleted or replaced meanwhile', async (_name, expire) => {
    answerList = (_request, response) => sendList(response, '10', [thing('a', 1), thing('b', 2), thing('c', 3)])
    const { events, codes } = start()
    const first = await watchOpened(1)
    server.handle((request, response) => {
      if (request.query.has('watch')) expire(response)
      else sendList(response, '90', [thing('a', 1), thing('b', 80, { uid: 'b-2' })])
    })
    first.response.destroy()
    await retryAfter(codes, 1)
    await retryAfter(codes, 2)
    await vi.waitFor(() => expect(events.slice(3)).toEqual(['deleted c 3', 'deleted b 2', 'added b 80']))
    expect(codes.slice(0, 2)).toEqual(['Network', 'Gone'])
  })

  test('lists soon after a 410 that ends a long outage, and ever later while nothing but 410 comes', async () => {
    const { codes } = start()
    const first = await watchOpened(1)
    server.handle((_request, response) => {
      response.destroy()
    })
    first.response.destroy()
    for (let failures = 1; failures <= 7; failures++) await retryAfter(codes, failures)
    await vi.waitFor(() => expect(codes).toHaveLength(8))
    server.handle((request, response) => {
      if (request.query.has('watch')) sendStatus(response, 410, 'Expired', 'too old')
      else answerList(request, response)
    })
    await retryAfter(codes, 8)
    const pauses: number[] = []
    for (let failures = 9; failures <= 12; failures++) {
      await vi.waitFor(() => expect([codes.length, clock.pendingTimers]).toEqual([failures, 1]))
      pauses.push(clock.nextTimerIn ?? 0)
      await clock.advance(clock.nextTimerIn ?? 0)
    }
    expect(codes.slice(8, 12)).toEqual(['Gone', 'Gone', 'Gone', 'Gone'])
    expect(pauses[0]).toBeLessThan(1000)
    expect(pauses[3]).toBeGreaterThan(1500)
  })

  test('a watch without any sign of life is opened again, after a list of what it may have missed', async () => {
    const { codes, events } = start({ stallMs: 60_000 })
    const first = await watchOpened(1)
    await clock.advance(50_000)
    sendFrame(first.response, 'ADDED', thing('a', 20))
    await vi.waitFor(() => expect(events).toHaveLength(1))
    await clock.advance(50_000)
    expect(codes).toEqual([])
    answerList = (_request, response) => sendList(response, '25', [thing('a', 24)])
    await clock.advance(10_000)
    await retryAfter(codes, 1)
    expect((await watchOpened(2)).request.query.get('resourceVersion')).toBe('25')
    expect([codes, events]).toEqual([['Timeout'], ['added a 20', 'updated a 24']])
  })

  test('an older frame changes nothing, and is not where the next watch starts', async () => {
    answerList = (_request, response) => sendList(response, '10', [thing('a', 9)])
    const { events } = start()
    const first = await watchOpened(1)
    sendFrame(first.response, 'MODIFIED', thing('a', 4))
    sendFrame(first.response, 'DELETED', thing('a', 5))
    first.response.end()
    expect((await watchOpened(2)).request.query.get('resourceVersion')).toBe('10')
    expect(events).toEqual(['added a 9'])
  })

  test('watches that end at once are not opened in a tight loop', async () => {
    server.handle((request, response) => {
      if (!request.query.has('watch')) return answerList(request, response)
      openWatch(response)
      response.end()
    })
    const { codes } = start()
    await retryAfter(codes, 1)
    await vi.waitFor(() => expect(codes).toHaveLength(2))
    expect(server.requests.filter((request) => request.query.has('watch'))).toHaveLength(2)
  })

  test('lists from before what was seen are refused, until it is plain that a backup was restored', async () => {
    answerList = (_request, response) => sendList(response, '100', [thing('a', 90), thing('b', 91)])
    const signs: number[] = []
    const { reflector, codes } = start({ onReset: (since) => signs.push(since) })
    const first = await watchOpened(1)
    answerList = (_request, response) => sendList(response, '50', [thing('a', 40)])
    sendFrame(first.response, 'ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })
    await retryAfter(codes, 1)
    await retryAfter(codes, 2)
    expect(names(reflector)).toEqual(['a', 'b'])
    await retryAfter(codes, 3)
    expect((await watchOpened(2)).request.query.get('resourceVersion')).toBe('50')
    expect(names(reflector)).toEqual(['a'])
    expect(signs).toHaveLength(3)
    expect(signs.at(-1)).toBe(clock.monotonic())
  })

  test('a bookmark from before what was seen is a sign of another history', async () => {
    answerList = (_request, response) => sendList(response, '100', [thing('a', 90)])
    const signs: number[] = []
    const { codes } = start({ onReset: (since) => signs.push(since) })
    const first = await watchOpened(1)
    sendFrame(first.response, 'BOOKMARK', thing('', 100))
    sendFrame(first.response, 'BOOKMARK', thing('', 99))
    await vi.waitFor(() => expect(codes).toEqual(['Gone']))
    expect(signs).toEqual([clock.monotonic()])
  })

  test('a handler that throws does not end it', async () => {
    const { reflector, events } = start()
    reflector.subscribe(() => {
      throw new Error('a bug')
    })
    const first = await watchOpened(1)
    sendFrame(first.response, 'ADDED', thing('a', 12))
    sendFrame(first.response, 'ADDED', thing('b', 13))
    await vi.waitFor(() => expect(events).toEqual(['added a 12', 'added b 13']))
  })
})

test('our own writes are recorded in watched namespaces only', async () => {
  const { reflector } = start({ namespaces: ['shop'] })
  await reflector.synced
  const own = (namespace: string): KubeObject => ({
    apiVersion: 'g.dev/v1',
    kind: 'Thing',
    ...thing('a', 12, { namespace }),
  })
  reflector.record(own('shop'))
  reflector.record(own('office'))
  expect(reflector.store.list()).toMatchObject([{ metadata: { namespace: 'shop' } }])
})

test('a reflector refuses to be started twice', async () => {
  const { reflector } = start()
  await expect(reflector.start(stop.signal)).rejects.toThrow('already been started')
})

describe('another history', () => {
  test('is listed again when no watch could be opened: etcd may have been put back meanwhile', async () => {
    let isRestored: boolean = false
    answerList = (_request, response) => {
      if (isRestored) sendList(response, '1000000100', [thing('a', 3)])
      else sendList(response, '10', [thing('a', 8)])
    }
    let refusals = 0
    const served = startFakeKubeServer((request, response) => {
      if (!request.query.has('watch')) return answerList(request, response)
      if (refusals > 0) {
        refusals -= 1
        return sendStatus(response, 503, 'ServiceUnavailable', 'starting')
      }
      openWatch(response)
      watches.push({ request, response })
    })
    await using other = await served
    await using there = {
      kube: createKubeClient({ connection: other.connection, clock, random: systemRandom, maxRetries: 0 }),
      [Symbol.asyncDispose]: () => there.kube.close(),
    }
    const { reflector, codes, events } = start({ client: there.kube })
    const { response } = await watchOpened(1)
    refusals = 1
    isRestored = true
    response.destroy()
    await retryAfter(codes, 1)
    await retryAfter(codes, 2)
    const { request } = await watchOpened(2)
    expect(request.query.get('resourceVersion')).toBe('1000000100')
    expect(events).toEqual(['added a 8', 'updated a 3'])
    stop.abort()
    expect(names(reflector)).toEqual(['a'])
  })

  test('shows in a bookmark from before what was seen', async () => {
    const lists: (readonly [string, ReturnType<typeof thing>[]])[] = [['100', [thing('a', 90)]]]
    answerList = (_request, response) => {
      const [resourceVersion, items] = lists.length > 1 ? (lists.shift() ?? ['', []]) : (lists[0] ?? ['', []])
      sendList(response, resourceVersion, items)
    }
    const { codes, events } = start()
    const { response } = await watchOpened(1)
    lists[0] = ['120', [thing('a', 4)]]
    sendFrame(response, 'BOOKMARK', { metadata: { resourceVersion: '50' } })
    await retryAfter(codes, 1)
    await watchOpened(2)
    expect(codes).toEqual(['Gone'])
    expect(events).toEqual(['added a 90', 'updated a 4'])
  })

  test('an own write that was recorded counts: a list from before it is not believed at once', async () => {
    const { reflector, codes } = start()
    await watchOpened(1)
    reflector.record({ apiVersion: 'g.dev/v1', kind: 'Thing', ...thing('a', 200) })
    void reflector.refresh(clock.monotonic() + 1)
    await clock.advance(1)
    await vi.waitFor(() => expect(codes).toEqual(['Unavailable']))
    expect(names(reflector)).toEqual(['a'])
  })
})

describe('being asked for everything again', () => {
  test('ends a watch that says nothing, lists, and watches from there', async () => {
    const { reflector, events } = start()
    await reflector.synced
    await watchOpened(1)
    answerList = (_request, response) => sendList(response, '30', [thing('a', 25)])
    await clock.advance(1)
    expect(await reflector.refresh(clock.monotonic())).toBe(true)
    expect(events).toEqual(['added a 25'])
    const { request } = await watchOpened(2)
    expect(request.query.get('resourceVersion')).toBe('30')
  })

  test('asks nothing when a list that began late enough is in', async () => {
    const { reflector } = start()
    await reflector.synced
    await watchOpened(1)
    const requests = server.requests.length
    expect(await reflector.refresh(0)).toBe(false)
    expect(server.requests).toHaveLength(requests)
  })

  test('lists once more when the list under way began too early', async () => {
    const held: ServerResponse[] = []
    answerList = (_request, response) => held.push(response)
    const { reflector } = start()
    await vi.waitFor(() => expect(held).toHaveLength(1))
    await clock.advance(5)
    const refreshed = reflector.refresh(clock.monotonic())
    sendList(held[0] as ServerResponse, '10', [thing('a', 1)])
    await vi.waitFor(() => expect(held).toHaveLength(2))
    sendList(held[1] as ServerResponse, '12', [thing('a', 11)])
    expect(await refreshed).toBe(true)
    const { request } = await watchOpened(1)
    expect(request.query.get('resourceVersion')).toBe('12')
  })

  test('waits for a list that fails as long as that takes', async () => {
    const { reflector, codes } = start()
    await reflector.synced
    await watchOpened(1)
    let isDown: boolean = true
    answerList = (_request, response) =>
      isDown ? sendStatus(response, 503, 'ServiceUnavailable', 'no') : sendList(response, '40', [thing('b', 39)])
    await clock.advance(1)
    const refreshed = reflector.refresh(clock.monotonic())
    await retryAfter(codes, 1)
    await vi.waitFor(() => expect(codes).toHaveLength(2))
    isDown = false
    await retryAfter(codes, 2)
    expect(await refreshed).toBe(true)
    expect(names(reflector)).toEqual(['b'])
  })
})
