import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AccountCache } from '../../../src/api/account-cache.ts'
import { collections } from '../../../src/api/collections.ts'
import type { RemoteObject } from '../../../src/api/types.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { ModelApi } from '../../builders/model-api.ts'

const { ipPolicies } = collections

const IDS = ['a', 'b', 'c', 'd']

/** Keys that move with each change, keys that several objects share, and one that all have. */
const KEYS = ['version 0', 'version 1', 'id a', 'id b', 'any']

function keysOf({ id, version }: RemoteObject): readonly string[] {
  return [`version ${Number(version) % 2}`, `id ${id}`, 'any']
}

const step = fc.record({
  action: fc.constantFrom('create', 'update', 'delete', 'fetch', 'list', 'list', 'foreign put', 'foreign delete'),
  id: fc.constantFrom(...IDS),
  there: fc.integer({ min: 0, max: 20 }),
  paging: fc.integer({ min: 0, max: 20 }),
  back: fc.integer({ min: 0, max: 20 }),
  pause: fc.integer({ min: 0, max: 15 }),
  loseAnswer: fc.boolean(),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Runs steps that overlap according to their delays, and checks the cache after each moment. */
class Play {
  readonly clock = new FakeClock()
  readonly api = new ModelApi(this.clock)
  readonly cache = new AccountCache(this.api, this.clock, { keysOf: () => keysOf })
  /** The lowest version of an object that the cache may show: that of our last answered write. */
  readonly #floor = new Map<string, number>()
  /** Reconcilers handle an object one at a time. */
  readonly #busy = new Set<string>()
  readonly #calls: Promise<unknown>[] = []

  async run(steps: readonly Step[]): Promise<void> {
    for (const next of steps) {
      this.#begin(next)
      this.check()
      await this.clock.advance(next.pause)
      this.check()
    }
    while (this.clock.nextTimerIn !== undefined) {
      await this.clock.advance(this.clock.nextTimerIn)
      this.check()
    }
    await Promise.all(this.#calls)
  }

  /** After a quiet moment, one list and the GETs that it requires make the cache equal to the server. */
  async converge(): Promise<void> {
    await this.clock.advance(1)
    const list = this.cache.refresh(ipPolicies)
    while (this.clock.nextTimerIn !== undefined) await this.clock.advance(this.clock.nextTimerIn)
    await list
    expect(byId(this.cache.all(ipPolicies))).toEqual(byId(this.api.store.values()))
  }

  check(): void {
    for (const [id, floor] of this.#floor) {
      const shown = this.cache.get(ipPolicies, id)?.object?.version
      if (shown !== undefined) expect(shown).toBeGreaterThanOrEqual(floor)
    }
    for (const key of KEYS) {
      const found = this.cache.all(ipPolicies).filter((object) => keysOf(object).includes(key))
      expect(byId(this.cache.find(ipPolicies, key))).toEqual(byId(found))
    }
    for (const object of this.cache.all(ipPolicies)) {
      expect(object.version).toBeGreaterThanOrEqual(this.#floor.get(object.id) ?? 0)
    }
  }

  #begin({ action, id, there, paging, back, loseAnswer }: Step): void {
    this.api.delays = { there, paging, back }
    switch (action) {
      case 'list':
        this.#calls.push(this.cache.refresh(ipPolicies))
        return
      case 'foreign put':
        this.api.put(id)
        return
      case 'foreign delete':
        this.api.store.delete(id)
        return
      case 'fetch':
        this.#calls.push(this.cache.fetch(ipPolicies, id))
        return
      default:
        if (!this.#busy.has(id)) this.#write(action, id, loseAnswer)
    }
  }

  #write(action: 'create' | 'update' | 'delete', id: string, loseAnswer: boolean): void {
    this.#busy.add(id)
    this.api.loseAnswerOf = loseAnswer ? action : undefined
    const answered = this.#send(action, id).then(
      (version) => void this.#floor.set(id, version),
      // A lost answer, or a missing object: nothing is promised.
      () => undefined,
    )
    this.#calls.push(answered.finally(() => this.#busy.delete(id)))
  }

  /**
   * The version that our answered write gave the object; after a delete, one above all earlier ones. A 404 is no such
   * answer.
   */
  async #send(action: 'create' | 'update' | 'delete', id: string): Promise<number> {
    if (action === 'delete') {
      // The delete takes effect in flight: versions given before it began are certainly older.
      const before = this.api.versions
      const result = await this.cache.delete(ipPolicies, id)
      return result === 'deleted' ? before + 1 : (this.#floor.get(id) ?? 0)
    }
    const write = action === 'create' ? this.cache.create(ipPolicies, { id }) : this.cache.update(ipPolicies, id, {})
    return Number((await write).version)
  }
}

function byId(objects: Iterable<{ readonly id: string }>): unknown {
  return Object.fromEntries([...objects].map((object) => [object.id, object]))
}

it('the cache never shows anything older than our last answered write, and ends equal to the server', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const play = new Play()
    await play.run(steps)
    await play.converge()
  })
  await fc.assert(property, { numRuns: 300 })
}, 60_000)
