import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { type AddOptions, type Work, WorkQueue, type WorkQueueOptions } from '../../../src/runtime/work-queue.ts'
import { sleep } from '../../../src/util/clock.ts'
import { PRIORITIES } from '../../../src/util/priority.ts'
import type { Random } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'

/** No jitter: the middle of every range. */
const middle: Random = { next: () => 0.5, hex: (bytes) => '0'.repeat(2 * bytes) }

let clock: FakeClock

beforeEach(() => {
  clock = new FakeClock()
})

function createQueue(options: Partial<WorkQueueOptions> = {}): WorkQueue {
  return new WorkQueue({ clock, random: middle, ...options })
}

async function takeNow(queue: WorkQueue): Promise<Work> {
  const work = await queue.take()
  if (work === undefined) throw new Error('the queue is shut down')
  return work
}

async function drain(queue: WorkQueue): Promise<string[]> {
  const order: string[] = []
  while (queue.depth > 0) {
    const { key } = await takeNow(queue)
    order.push(key)
    queue.done(key)
  }
  return order
}

describe('one key', () => {
  test('is queued once however often it is added', async () => {
    const queue = createQueue()
    for (let times = 0; times < 3; times++) queue.add('a')
    expect(await drain(queue)).toEqual(['a'])
  })

  test('added while in flight is handed out again, after it is done and not before', async () => {
    const queue = createQueue()
    queue.add('a')
    await takeNow(queue)
    queue.add('a')
    expect(queue.depth).toBe(0)
    queue.done('a')
    expect(await drain(queue)).toEqual(['a'])
  })

  test('moves up when it is added in a more urgent priority', async () => {
    const queue = createQueue()
    queue.add('a', { priority: 'poll' })
    queue.add('b', { priority: 'drift' })
    queue.add('b', { priority: 'edit' })
    expect(await drain(queue)).toEqual(['b', 'a'])
  })

  test('of several delays only the earliest counts', async () => {
    const queue = createQueue()
    queue.addAfter('a', 5000)
    queue.addAfter('a', 1000)
    queue.addAfter('a', 3000)
    await clock.advance(999)
    expect(queue.depth).toBe(0)
    await clock.advance(1)
    expect(await drain(queue)).toEqual(['a'])
    await clock.advance(10_000)
    expect(queue.depth).toBe(0)
  })

  test('that is handed out early is not handed out again when its delay would have ended', async () => {
    const queue = createQueue()
    queue.addAfter('a', 5000)
    queue.add('a')
    expect(await drain(queue)).toEqual(['a'])
    await clock.advance(10_000)
    expect(queue).toMatchObject({ depth: 0, delayed: 0 })
    expect(clock.pendingTimers).toBe(0)
  })

  test('that is delayed while it is worked on keeps that delay', async () => {
    const queue = createQueue()
    queue.add('a')
    const work = await takeNow(queue)
    queue.addAfter('a', 5000)
    queue.done(work.key)
    await clock.advance(5000)
    expect(await drain(queue)).toEqual(['a'])
  })

  test('is queued at once after no delay', () => {
    const queue = createQueue()
    queue.addAfter('a', 0)
    queue.addAfter('b', Number.NaN)
    expect(queue).toMatchObject({ depth: 2, delayed: 0 })
  })

  test('added again while in flight keeps the most urgent priority', async () => {
    const queue = createQueue()
    queue.add('a', { priority: 'drift' })
    await takeNow(queue)
    queue.add('a', { priority: 'edit' })
    queue.add('a', { priority: 'poll' })
    queue.done('a')
    expect(await takeNow(queue)).toMatchObject({ key: 'a', priority: 'edit' })
  })

  test('counts its failures in a row, and is retried as drift', async () => {
    let retried = 0
    const quiet = { added: () => undefined, taken: () => undefined, finished: () => undefined }
    const queue = createQueue({ observer: { ...quiet, retried: () => retried++ } })
    queue.addBackoff('a')
    queue.addBackoff('a')
    expect({ failures: queue.failures('a'), retried }).toEqual({ failures: 2, retried: 2 })
    await clock.advance(1000)
    expect(await takeNow(queue)).toMatchObject({ key: 'a', priority: 'drift' })
    queue.forget('a')
    expect(queue.failures('a')).toBe(0)
  })

  test('that keeps failing waits longer each time, up to the limit, until it is forgotten', () => {
    const queue = createQueue({ backoffBaseMs: 1000, backoffMaxMs: 6000 })
    expect([1, 2, 3, 4, 5].map(() => queue.addBackoff('a'))).toEqual([1000, 2000, 4000, 6000, 6000])
    queue.forget('a')
    expect(queue.addBackoff('a')).toBe(1000)
    expect(queue.addBackoff('a', { atLeastMs: 60_000 })).toBe(60_000)
  })

  test('finishes its pause before it is handed out to the patient, and is handed out to others at once', async () => {
    const queue = createQueue({ backoffBaseMs: 10_000 })
    queue.addBackoff('a')
    queue.add('a', { isPatient: true })
    await clock.advance(9_999)
    expect(queue.depth).toBe(0)
    await clock.advance(1)
    expect(await takeNow(queue)).toMatchObject({ key: 'a' })
    queue.done('a')
    queue.addBackoff('a')
    queue.add('a')
    expect(await takeNow(queue)).toMatchObject({ key: 'a', priority: 'edit' })
  })

  test('finishes its pause also if a patient caller added it while it was in flight', async () => {
    const queue = createQueue({ backoffBaseMs: 10_000 })
    queue.add('a')
    await takeNow(queue)
    queue.add('a', { priority: 'drift', isPatient: true })
    queue.addBackoff('a')
    queue.done('a')
    expect(queue).toMatchObject({ depth: 0, delayed: 1 })
    await clock.advance(10_000)
    expect(queue.depth).toBe(1)
  })

  test('is handed out after its work if an impatient caller added it meanwhile as well', async () => {
    const queue = createQueue({ backoffBaseMs: 10_000 })
    queue.add('a')
    await takeNow(queue)
    queue.add('a')
    queue.add('a', { isPatient: true })
    queue.addBackoff('a')
    queue.done('a')
    expect(queue.depth).toBe(1)
  })

  test('that was refused is tried again for the patient once a minute, and otherwise after its delay', async () => {
    const queue = createQueue()
    queue.addRefused('a', 600_000)
    await clock.advance(30_000)
    queue.add('a', { isPatient: true })
    await clock.advance(29_999)
    expect(queue.depth).toBe(0)
    await clock.advance(1)
    expect(await takeNow(queue)).toMatchObject({ key: 'a' })
    queue.done('a')
    queue.addRefused('a', 600_000)
    await clock.advance(600_000)
    expect(await takeNow(queue)).toMatchObject({ key: 'a', priority: 'drift' })
  })

  test('that succeeded is left alone by the patient for ten seconds', async () => {
    const queue = createQueue({ backoffBaseMs: 60_000 })
    queue.add('a', { isPatient: true })
    await takeNow(queue)
    queue.addBackoff('a')
    queue.forget('a')
    queue.add('a', { isPatient: true })
    queue.done('a')
    await clock.advance(9_999)
    expect(queue.depth).toBe(0)
    await clock.advance(1)
    expect(queue.depth).toBe(1)
  })

  test('may not be done without being in flight', () => {
    expect(() => createQueue().done('a')).toThrow(RangeError)
  })
})

describe('order', () => {
  test('edits come before polls and polls before drift', async () => {
    const queue = createQueue()
    queue.add('drift', { priority: 'drift' })
    queue.add('poll', { priority: 'poll' })
    queue.add('edit', { priority: 'edit' })
    expect(await drain(queue)).toEqual(['edit', 'poll', 'drift'])
  })

  test('drift is served in bounded time however many edits come in', async () => {
    const queue = createQueue()
    queue.add('poll', { priority: 'poll' })
    queue.add('drift', { priority: 'drift' })
    const order: string[] = []
    for (let turn = 0; turn < 20; turn++) {
      queue.add(`edit-${turn}`)
      const { key } = await takeNow(queue)
      order.push(key)
      queue.done(key)
    }
    expect(order.indexOf('poll')).toBe(4)
    expect(order.indexOf('drift')).toBe(8)
  })

  test('groups take turns, so that a small account does not wait behind a large one', async () => {
    const queue = createQueue()
    for (let item = 0; item < 100; item++) queue.add(`large-${item}`, { group: 'large' })
    queue.add('small-0', { group: 'small' })
    queue.add('small-1', { group: 'small' })
    expect((await drain(queue)).slice(0, 4)).toEqual(['large-0', 'small-0', 'large-1', 'small-1'])
  })

  test('a group at its limit leaves the next place to another, and continues when it has room', async () => {
    const queue = createQueue({ maxPerGroup: 1 })
    queue.add('a1', { group: 'a' })
    queue.add('a2', { group: 'a' })
    queue.add('b1', { group: 'b', priority: 'drift' })
    expect((await takeNow(queue)).key).toBe('a1')
    expect((await takeNow(queue)).key).toBe('b1')
    const waiting = queue.take()
    queue.done('b1')
    expect(queue.depth).toBe(1)
    queue.done('a1')
    expect((await waiting)?.key).toBe('a2')
  })

  test('what exists and was edited comes before however much is still to be made, which is not kept waiting for ever', async () => {
    const queue = createQueue()
    for (let item = 0; item < 20; item++) queue.add(`new-${item}`, { priority: 'create', group: 'a' })
    for (let item = 0; item < 5; item++) queue.add(`edit-${item}`, { group: 'a' })
    const order = await drain(queue)
    expect(order.slice(0, 5)).toEqual(['edit-0', 'edit-1', 'edit-2', 'edit-3', 'new-0'])
    expect(order.indexOf('edit-4')).toBe(5)
  })

  test('the last quarter of the workers is for tenants that hold none, however many groups another has', async () => {
    const tenantOf = (group: string): string => group.split('/')[0] ?? ''
    const queue = createQueue({ workers: 8, maxPerGroup: 4, tenantOf })
    for (let group = 0; group < 4; group++) {
      for (let item = 0; item < 5; item++) queue.add(`greedy-${group}-${item}`, { group: `greedy/${group}` })
    }
    const taken: string[] = []
    for (let worker = 0; worker < 8; worker++) {
      void queue.take().then((work) => work !== undefined && taken.push(work.key))
    }
    await clock.advance(0)
    expect(taken).toHaveLength(6)
    queue.add('one', { group: 'other/1' })
    queue.add('another', { group: 'third/1' })
    await clock.advance(0)
    expect(taken.slice(6)).toEqual(['one', 'another'])
    queue.done('one')
    queue.done('greedy-0-0')
    queue.done('greedy-1-0')
    void queue.take().then((work) => work !== undefined && taken.push(work.key))
    await clock.advance(0)
    expect(taken).toHaveLength(9)
  })

  test('work of no group is never held back', async () => {
    const queue = createQueue({ maxPerGroup: 1 })
    queue.add('a')
    queue.add('b')
    expect((await takeNow(queue)).key).toBe('a')
    expect((await takeNow(queue)).key).toBe('b')
  })
})

describe('shutting down', () => {
  test('wakes who waits, hands out nothing more and lets work in flight end', async () => {
    const queue = createQueue()
    queue.add('a')
    await takeNow(queue)
    const waiting = queue.take()
    queue.addAfter('b', 1000)
    queue.shutDown()
    expect(await waiting).toBeUndefined()
    queue.add('c')
    queue.done('a')
    expect(await queue.take()).toBeUndefined()
    expect(clock.pendingTimers).toBe(0)
  })

  test('drops what waits, and takes nothing more in', async () => {
    const queue = createQueue()
    queue.add('a')
    queue.addAfter('b', 1000)
    queue.shutDown()
    expect(queue).toMatchObject({ depth: 0, delayed: 0 })
    queue.add('c')
    queue.addAfter('d', 0)
    queue.addAfter('e', 1000)
    queue.addBackoff('f')
    expect(queue).toMatchObject({ depth: 0, delayed: 0 })
    expect(queue.failures('f')).toBe(0)
    expect(clock.pendingTimers).toBe(0)
  })

  test('does not queue again what was added while it was in flight', async () => {
    const queue = createQueue()
    queue.add('a')
    await takeNow(queue)
    queue.add('a')
    queue.shutDown()
    queue.done('a')
    expect(queue).toMatchObject({ depth: 0, inFlight: 0 })
  })
})

/** Records the keys reported; each report takes as long as the test wants. */
function tellings() {
  const told: string[] = []
  const open = new Map<string, () => void>()
  const tell = (key: string): Promise<void> => {
    told.push(key)
    return new Promise((resolve) => open.set(key, resolve))
  }
  const end = async (key: string): Promise<void> => {
    open.get(key)?.()
    await clock.advance(0)
  }
  return { told, end, longWaits: { afterMs: 30_000, tell } }
}

describe('a key that waits for long', () => {
  test('is reported once, one key after the other and the longest wait first', async () => {
    const { told, end, longWaits } = tellings()
    const queue = createQueue({ longWaits })
    queue.add('a', { priority: 'drift' })
    await clock.advance(1000)
    queue.add('b')
    await clock.advance(28_999)
    expect(told).toEqual([])
    await clock.advance(5000)
    expect(told).toEqual(['a'])
    await end('a')
    expect(told).toEqual(['a', 'b'])
    await end('b')
    queue.add('a')
    await clock.advance(120_000)
    expect(told).toEqual(['a', 'b'])
    expect(clock.pendingTimers).toBe(0)
  })

  test('is not reported when it is taken before, and again when it waits again', async () => {
    const { told, longWaits } = tellings()
    const queue = createQueue({ longWaits })
    queue.add('a')
    await clock.advance(29_000)
    await takeNow(queue)
    queue.add('a')
    await clock.advance(60_000)
    expect(told).toEqual([])
    queue.done('a')
    await clock.advance(29_999)
    expect(told).toEqual([])
    await clock.advance(1)
    expect(told).toEqual(['a'])
  })

  test('is not handed out while it is being reported, then in its place, and keeps nobody else from being handed out', async () => {
    const { end, longWaits } = tellings()
    const queue = createQueue({ longWaits })
    for (const key of ['a', 'b', 'c']) queue.add(key, { group: 'red' })
    await clock.advance(30_000)
    expect((await takeNow(queue)).key).toBe('b')
    await end('a')
    await end('c')
    expect(await drain(queue)).toEqual(['a', 'c'])
  })

  test('is handed out as soon as it was reported to a worker who waits', async () => {
    const { end, longWaits } = tellings()
    const queue = createQueue({ longWaits, maxPerGroup: 1 })
    queue.add('busy', { group: 'red' })
    queue.add('a', { group: 'red' })
    await takeNow(queue)
    await clock.advance(30_000)
    const taken = queue.take()
    queue.done('busy')
    expect(queue.depth).toBe(1)
    await end('a')
    expect((await taken)?.key).toBe('a')
  })

  test('is passed over when there is nothing to tell of it', async () => {
    const told: string[] = []
    const tell = (key: string): undefined => void told.push(key)
    const queue = createQueue({ longWaits: { afterMs: 30_000, tell } })
    for (const key of ['a', 'b', 'c']) queue.add(key)
    await clock.advance(30_000)
    expect(told).toEqual(['a', 'b', 'c'])
    expect(await drain(queue)).toEqual(['a', 'b', 'c'])
  })

  test('is not reported after shutdown, which waits for reports in progress', async () => {
    const { told, end, longWaits } = tellings()
    const queue = createQueue({ longWaits })
    queue.add('a')
    queue.add('b')
    await clock.advance(30_000)
    queue.shutDown()
    let isOver = false
    void queue.told().then(() => {
      isOver = true
    })
    await clock.advance(60_000)
    expect(isOver).toBe(false)
    await end('a')
    expect(isOver).toBe(true)
    expect(told).toEqual(['a'])
    expect(clock.pendingTimers).toBe(0)
  })
})

test('tells how much waits, how long, and what takes long', async () => {
  const waits: number[] = []
  const works: number[] = []
  const queue = createQueue({
    observer: {
      added: () => undefined,
      taken: (seconds) => waits.push(seconds),
      finished: (seconds) => works.push(seconds),
      retried: () => undefined,
    },
  })
  queue.add('a')
  queue.add('b')
  await clock.advance(3000)
  expect(queue).toMatchObject({ depth: 2, oldestSeconds: 3 })
  await takeNow(queue)
  await clock.advance(2000)
  expect(queue.unfinishedSeconds).toEqual({ total: 2, longest: 2 })
  await takeNow(queue)
  await clock.advance(1000)
  expect(queue).toMatchObject({ depth: 0, inFlight: 2, oldestSeconds: 0 })
  expect(queue.unfinishedSeconds).toEqual({ total: 4, longest: 3 })
  queue.done('a')
  expect(waits).toEqual([3, 5])
  expect(works).toEqual([3])
  expect(queue.inFlight).toBe(1)
})

type Step =
  | { readonly do: 'add'; readonly key: string; readonly options: Required<AddOptions> }
  | { readonly do: 'addAfter'; readonly key: string; readonly options: Required<AddOptions>; readonly ms: number }
  | { readonly do: 'fail'; readonly key: string }
  | { readonly do: 'take' }
  | { readonly do: 'finish'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }

const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const options = fc.record({
  priority: fc.constantFrom(...PRIORITIES),
  group: fc.constantFrom('', 'red', 'blue'),
  isPatient: fc.boolean(),
})
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ do: fc.constant('add' as const), key: keys, options }),
    fc.record({ do: fc.constant('addAfter' as const), key: keys, options, ms: fc.integer({ min: 1, max: 50 }) }),
    fc.record({ do: fc.constant('fail' as const), key: keys }),
    fc.constant({ do: 'take' as const }),
    fc.record({ do: fc.constant('finish' as const), which: fc.nat() }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 60 }) }),
  ),
  { maxLength: 60 },
)

test('whatever happens, no key is in flight twice or while it is being reported, no group beyond its limit, and nothing added is lost', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (program) => {
      clock = new FakeClock()
      const telling = new Set<string>()
      /** Keys reported since they were last taken. */
      const told = new Set<string>()
      const tell = (key: string): Promise<void> | undefined => {
        if (inFlight.has(key)) violations.push(`${key} is reported while in flight`)
        if (told.has(key)) violations.push(`${key} is reported twice in one wait`)
        if (telling.size > 0) violations.push(`${key} is reported next to another`)
        told.add(key)
        if (key === 'e') return undefined
        telling.add(key)
        return sleep(clock, 15).then(() => void telling.delete(key))
      }
      const longWaits = { afterMs: 20, tell }
      const queue = createQueue({ maxPerGroup: 2, backoffBaseMs: 10, backoffMaxMs: 40, longWaits })
      const inFlight = new Map<string, Work>()
      /** Keys not processed since they were last added, with the time from which they are due. */
      const owed = new Map<string, number>()
      const violations: string[] = []
      let takers = 0
      const owe = (key: string, due: number) => owed.set(key, Math.max(due, owed.get(key) ?? 0))
      const take = () => {
        takers++
        void queue.take().then((work) => {
          takers--
          if (work === undefined) return
          if (inFlight.has(work.key)) violations.push(`${work.key} is in flight twice`)
          if (telling.has(work.key)) violations.push(`${work.key} is in flight while it is being reported`)
          told.delete(work.key)
          inFlight.set(work.key, work)
          const ofGroup = [...inFlight.values()].filter(({ group }) => group === work.group)
          if (work.group !== '' && ofGroup.length > 2) violations.push(`${work.group} is beyond its limit`)
          if ((owed.get(work.key) ?? 0) <= clock.monotonic()) owed.delete(work.key)
        })
      }
      const finish = (key: string) => {
        inFlight.delete(key)
        queue.done(key)
      }
      for (const step of program) {
        switch (step.do) {
          case 'add':
            owe(step.key, clock.monotonic())
            queue.add(step.key, step.options)
            break
          case 'addAfter':
            // Only the earliest of several delays counts, so a later one does not require a run of its own.
            if (!owed.has(step.key)) owe(step.key, clock.monotonic())
            queue.addAfter(step.key, step.ms, step.options)
            break
          case 'fail':
            owe(step.key, clock.monotonic())
            queue.addBackoff(step.key)
            break
          case 'take':
            if (takers + inFlight.size < 4) take()
            break
          case 'finish': {
            const key = [...inFlight.keys()][step.which % Math.max(1, inFlight.size)]
            if (key !== undefined) finish(key)
            break
          }
          case 'wait':
            await clock.advance(step.ms)
            break
        }
        await clock.advance(0)
      }
      const isBusy = () => owed.size + inFlight.size + queue.depth + queue.delayed > 0
      for (let round = 0; round < 100 && isBusy(); round++) {
        for (const key of [...inFlight.keys()]) finish(key)
        if (takers === 0) take()
        await clock.advance(10_000)
      }
      expect(violations).toEqual([])
      expect([...owed.keys()]).toEqual([])
      expect(queue).toMatchObject({ depth: 0, inFlight: 0, delayed: 0 })
      expect(clock.pendingTimers).toBe(0)
      queue.shutDown()
    }),
    { numRuns: 500 },
  )
})
