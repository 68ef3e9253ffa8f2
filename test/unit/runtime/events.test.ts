import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { KubeError } from '../../../src/kube/kube-error.ts'
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../../../src/kube/types.ts'
import { cutBytes, EventRecorder, type ObjectEventNote } from '../../../src/runtime/events.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { createSilentLogger, type SilentLogger } from '../../builders/silent-logger.ts'

interface Written {
  readonly type: ResourceType
  readonly key: ObjectKey
  readonly body: Readonly<Record<string, unknown>>
}

const ready: ObjectEventNote = { type: 'Normal', reason: 'Ready', note: 'the edge is live' }

let clock: FakeClock
let logger: SilentLogger
let written: Written[]
/** The server's reaction to the next events. */
let serve: () => Promise<void>
let recorder: EventRecorder

beforeEach(() => {
  clock = new FakeClock()
  logger = createSilentLogger()
  written = []
  serve = () => Promise.resolve()
  const client: Pick<KubeClient, 'create'> = {
    async create<T extends KubeObject>(type: ResourceType, key: ObjectKey, body: Written['body']): Promise<T> {
      await serve()
      written.push({ type, key, body })
      return body as T
    },
  }
  recorder = new EventRecorder({ client, clock, random: systemRandom, logger, instance: 'culvert-0' })
})

function edge(name = 'front', namespace: string | undefined = 'shop'): KubeObject {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: '7', ...(namespace === undefined ? {} : { namespace }) }
  return { apiVersion: 'culvert.dev/v1alpha1', kind: 'Edge', metadata }
}

describe('what is written', () => {
  test('is an Event of events.k8s.io/v1 about the object, next to it', async () => {
    recorder.record(edge(), ready)
    await recorder.flush()
    expect(written).toMatchObject([
      {
        type: { group: 'events.k8s.io', version: 'v1' },
        key: { namespace: 'shop', name: expect.stringMatching(/^front\.[0-9a-f]{16}$/) },
        body: {
          eventTime: '2026-01-01T00:00:00.000000Z',
          reportingController: 'culvert.dev/operator',
          reportingInstance: 'culvert-0',
          type: 'Normal',
          reason: 'Ready',
          action: 'Ready',
          note: 'the edge is live',
          regarding: {
            apiVersion: 'culvert.dev/v1alpha1',
            kind: 'Edge',
            namespace: 'shop',
            name: 'front',
            uid: 'uid-front',
          },
        },
      },
    ])
  })

  test('goes to the namespace default for objects of the cluster scope', async () => {
    const { namespace: _none, ...metadata } = edge().metadata
    recorder.record({ ...edge(), metadata }, ready)
    await recorder.flush()
    expect(written[0]?.key.namespace).toBe('default')
    expect(written[0]?.body.regarding).not.toHaveProperty('namespace')
  })

  test('has a valid name for the longest of objects', async () => {
    recorder.record(edge('a'.repeat(235) + '.'.padEnd(18, 'b')), ready)
    await recorder.flush()
    expect(written[0]?.key.name.length).toBeLessThanOrEqual(253)
    expect(written[0]?.key.name).toMatch(/^a{235}b*\.[0-9a-f]{16}$/)
  })

  test('is cut at its limit in bytes, never within a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 3, max: 1024 }), (text, limit) => {
        const cut = cutBytes(text, limit)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit)
        if (cut !== text) expect(text.startsWith(cut.slice(0, -1))).toBe(true)
      }),
    )
  })
})

describe('an Event that the server could not take', () => {
  test.each(['TooManyRequests', 'Unavailable', 'Timeout', 'Network'] as const)('(%s) is sent again', async (code) => {
    const tries: number[] = []
    serve = () => {
      tries.push(clock.monotonic())
      return tries.length < 4 ? Promise.reject(new KubeError(code, 'not now')) : Promise.resolve()
    }
    recorder.record(edge(), ready)
    recorder.record(edge('back'), ready)
    await clock.advance(7500)
    await recorder.flush()
    expect(tries.map((at) => at - (tries[0] ?? 0))).toEqual([0, 500, 2500, 7500, 7500])
    expect(written.map(({ key }) => key.name.split('.')[0])).toEqual(['front', 'back'])
  })

  test('has been written if its name is taken at the second attempt', async () => {
    const answers = [new KubeError('Timeout', 'no answer'), new KubeError('AlreadyExists', 'exists', { status: 409 })]
    serve = () => Promise.reject(answers.shift())
    recorder.record(edge(), ready)
    await clock.advance(500)
    await recorder.flush()
    expect(answers).toEqual([])
    expect(logger.lines).toEqual([])
  })

  test('is dropped after five attempts, and the next one is sent', async () => {
    let tries = 0
    serve = () => (++tries <= 5 ? Promise.reject(new KubeError('Unavailable', 'down')) : Promise.resolve())
    recorder.record(edge(), ready)
    recorder.record(edge('back'), ready)
    await clock.advance(17_500)
    await recorder.flush()
    expect(tries).toBe(6)
    expect(written).toHaveLength(1)
    expect(logger.lines.map(({ level }) => level)).toEqual(['debug'])
  })
})

describe('what is not written', () => {
  test('is what a stop has no time for: it waits as long as it was asked to', async () => {
    const client = { create: () => new Promise<never>(() => undefined) }
    logger = createSilentLogger()
    recorder = new EventRecorder({ client, clock, random: systemRandom, logger, instance: 'culvert-0' })
    for (const name of ['a', 'b', 'c']) recorder.record(edge(name), ready)
    let isOver = false
    const over = recorder.flush(1_000).then(() => {
      isOver = true
    })
    await clock.advance(999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await over
  })

  test('is what was said about the object within ten minutes', async () => {
    recorder.record(edge(), ready)
    recorder.record(edge(), ready)
    await clock.advance(599_999)
    recorder.record(edge(), ready)
    await recorder.flush()
    expect(written).toHaveLength(1)
    recorder.record(edge(), { ...ready, note: 'the edge has moved' })
    recorder.record(edge('back'), ready)
    await clock.advance(1)
    recorder.record(edge(), ready)
    await recorder.flush()
    expect(written).toHaveLength(4)
  })

  test('is what a terminating namespace refuses, without any noise', async () => {
    serve = () => Promise.reject(new KubeError('Forbidden', 'namespace is being terminated', { status: 403 }))
    recorder.record(edge(), ready)
    await recorder.flush()
    expect(logger.lines.map(({ level }) => level)).toEqual(['debug'])
    serve = () => Promise.resolve()
    recorder.record(edge('back'), ready)
    await recorder.flush()
    expect(written).toHaveLength(1)
  })

  test('is what comes in while too much waits', async () => {
    const gate = Promise.withResolvers<void>()
    serve = () => gate.promise
    for (let item = 0; item < 300; item++) recorder.record(edge(`edge-${item}`), ready)
    gate.resolve()
    await recorder.flush()
    expect(written).toHaveLength(257)
  })

  test('is never a Warning in favour of another Event: it is sent first, and the newest other one is dropped', async () => {
    const gate = Promise.withResolvers<void>()
    serve = () => gate.promise
    for (let item = 0; item < 257; item++) recorder.record(edge(`edge-${item}`), ready)
    recorder.record(edge('broken'), { type: 'Warning', reason: 'Invalid', note: 'spec.hostports: "x" is no hostport' })
    gate.resolve()
    await recorder.flush()
    const names = written.map(({ key }) => key.name.split('.')[0])
    expect(names).toHaveLength(257)
    expect(names.slice(0, 3)).toEqual(['edge-0', 'broken', 'edge-1'])
    expect(names.at(-1)).toBe('edge-255')
    expect(logger.lines.map(({ level }) => level)).toEqual(['debug'])
  })

  test('is a Warning only if as many Warnings wait', async () => {
    const gate = Promise.withResolvers<void>()
    serve = () => gate.promise
    const broken: ObjectEventNote = { type: 'Warning', reason: 'Invalid', note: 'no' }
    for (let item = 0; item < 300; item++) recorder.record(edge(`edge-${item}`), broken)
    recorder.record(edge('front'), ready)
    gate.resolve()
    await recorder.flush()
    expect(written).toHaveLength(257)
    expect(written.map(({ body }) => body.type)).not.toContain('Normal')
  })
})
