import { describe, expect, it } from 'vitest'
import { AccountCache, type MayHaveMade } from '../../../src/api/account-cache.ts'
import { collections } from '../../../src/api/collections.ts'
import { ApiError } from '../../../src/api/errors.ts'
import type { RemoteObject } from '../../../src/api/types.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { ModelApi } from '../../builders/model-api.ts'

const { ipPolicies, ipPolicyRules, credentials } = collections

interface World {
  readonly clock: FakeClock
  readonly api: ModelApi
  readonly cache: AccountCache
  /** Notifications of the listener, as `type id`. */
  readonly heard: string[]
  /** Advances time until the call is answered. */
  settle<T>(call: Promise<T>): Promise<T>
}

function world(mayHaveMade?: MayHaveMade): World {
  const clock = new FakeClock()
  const api = new ModelApi(clock)
  const cache = new AccountCache(api, clock, mayHaveMade === undefined ? {} : { mayHaveMade })
  const heard: string[] = []
  cache.subscribe(({ type, id }) => heard.push(`${type} ${id}`))
  const settle = async <T>(call: Promise<T>): Promise<T> => {
    let open = true
    const ended = call.then(
      () => {
        open = false
      },
      () => {
        open = false
      },
    )
    while (open) await clock.advance(clock.nextTimerIn ?? 0)
    await ended
    return await call
  }
  return { clock, api, cache, heard, settle }
}

/** A world with the objects `a` and `b` listed and no notification yet. */
async function listedWorld(mayHaveMade?: MayHaveMade): Promise<World> {
  const created = world(mayHaveMade)
  created.api.put('a', { description: 'one' })
  created.api.put('b', { description: 'two' })
  await created.settle(created.cache.ensureListed(ipPolicies))
  created.heard.length = 0
  await created.clock.advance(10)
  return created
}

describe('listing', () => {
  it('makes every object of the first list appear', async () => {
    const { api, cache, heard, settle } = world()
    api.put('a')
    expect(cache.isListed(ipPolicies)).toBe(false)
    await settle(cache.ensureListed(ipPolicies))
    expect(cache.isListed(ipPolicies)).toBe(true)
    expect(cache.isListed(ipPolicyRules)).toBe(false)
    expect(heard).toEqual(['appeared a'])
    expect(cache.get(ipPolicies, 'a')).toEqual({ object: { id: 'a', version: 1 } })
    expect(cache.stats).toEqual({ lists: 1, pages: 2 })
  })

  it('is shared by callers at the same time and not repeated afterwards', async () => {
    const { api, cache, settle } = world()
    await settle(Promise.all([cache.ensureListed(ipPolicies), cache.ensureListed(ipPolicies)]))
    await cache.ensureListed(ipPolicies)
    expect(api.calls).toEqual(['list ip_policies'])
  })

  it('is begun again for a caller who needs a later one, and shared by those who need it too', async () => {
    const { clock, api, cache, settle } = world()
    const first = cache.ensureListed(ipPolicies)
    await clock.advance(1)
    const since = clock.monotonic()
    await settle(
      Promise.all([first, cache.ensureListed(ipPolicies, { since }), cache.ensureListed(ipPolicies, { since })]),
    )
    expect(api.calls).toHaveLength(2)
    await cache.ensureListed(ipPolicies, { since })
    expect(api.calls).toHaveLength(2)
  })

  it('is not shared by a caller who is more urgent', async () => {
    const { clock, api, cache, settle } = world()
    const drift = cache.refresh(ipPolicies)
    await clock.advance(0)
    await settle(
      Promise.all([drift, cache.ensureListed(ipPolicies), cache.ensureListed(ipPolicies, { priority: 'poll' })]),
    )
    expect(api.calls).toHaveLength(2)
  })

  it('waits for a time that has not come', async () => {
    const { clock, cache, settle } = world()
    const since = clock.monotonic() + 5_000
    await settle(cache.ensureListed(ipPolicies, { since }))
    expect(clock.monotonic()).toBeGreaterThanOrEqual(since)
  })

  it('that fails leaves what was known, tells everyone who waited, and is tried again by the next', async () => {
    const { api, cache, settle } = await listedWorld()
    api.refuse = 'list'
    await expect(settle(cache.refresh(ipPolicies))).rejects.toBeInstanceOf(ApiError)
    expect(cache.all(ipPolicies)).toHaveLength(2)
    await settle(cache.refresh(ipPolicies))
  })

  it('that began before another that is in already is ignored', async () => {
    const { clock, api, cache, heard, settle } = await listedWorld()
    api.delays = { there: 1, back: 100 }
    const slow = cache.refresh(ipPolicies)
    await clock.advance(5)
    api.put('a', { description: 'new' })
    api.delays = { there: 1, back: 1 }
    await settle(cache.refresh(ipPolicies))
    await settle(slow)
    expect(heard).toEqual(['changed a'])
    expect(cache.get(ipPolicies, 'a')?.object?.description).toBe('new')
  })
})

describe('a difference found by a list', () => {
  it('is none when only the order of members or null against absent differs', async () => {
    const { api, cache, heard, settle } = await listedWorld()
    const before = cache.get(ipPolicies, 'a')?.object
    api.store.set('a', { metadata: null, version: 1, description: 'one', id: 'a' })
    await settle(cache.refresh(ipPolicies))
    expect(heard).toEqual([])
    expect(cache.get(ipPolicies, 'a')?.object).toBe(before)
  })

  it('makes a changed object suspect until a GET confirms it', async () => {
    const { api, cache, heard, settle } = await listedWorld()
    api.put('a', { description: 'changed' })
    await settle(cache.refresh(ipPolicies))
    await settle(cache.refresh(ipPolicies))
    expect(heard).toEqual(['changed a'])
    expect(cache.get(ipPolicies, 'a')).toMatchObject({ object: { description: 'changed' }, suspect: 'changed' })
    await settle(cache.fetch(ipPolicies, 'a'))
    expect(cache.get(ipPolicies, 'a')).toEqual({ object: { id: 'a', description: 'changed', version: 3 } })
  })

  it('makes a missing object suspect, and a GET that does not find it adds nothing', async () => {
    const { api, cache, heard, settle } = await listedWorld()
    api.store.delete('a')
    await settle(cache.refresh(ipPolicies))
    expect(heard).toEqual(['vanished a'])
    expect(cache.get(ipPolicies, 'a')).toEqual({ suspect: 'vanished' })
    expect(cache.all(ipPolicies).map((object) => object.id)).toEqual(['b'])
    expect(await settle(cache.fetch(ipPolicies, 'a'))).toBeUndefined()
    expect(cache.get(ipPolicies, 'a')).toEqual({ suspect: 'vanished' })
    await settle(cache.refresh(ipPolicies))
    expect(heard).toEqual(['vanished a'])
    expect(cache.missesOf(ipPolicies, 'a')).toHaveLength(2)
  })

  it('clears when a GET finds the missing object after all', async () => {
    const { api, cache, settle } = await listedWorld()
    const kept = api.store.get('a')
    api.store.delete('a')
    await settle(cache.refresh(ipPolicies))
    if (kept !== undefined) api.store.set('a', kept)
    expect(await settle(cache.fetch(ipPolicies, 'a'))).toEqual(kept)
    expect(cache.get(ipPolicies, 'a')).toEqual({ object: kept })
  })

  it('is forgotten when nobody has asked for the missing object for an hour', async () => {
    const { api, cache, clock, settle } = await listedWorld()
    api.store.delete('a')
    await settle(cache.refresh(ipPolicies))
    await clock.advance(3_590_000)
    await settle(cache.refresh(ipPolicies))
    expect(cache.get(ipPolicies, 'a')).toEqual({ suspect: 'vanished' })
    await clock.advance(20_000)
    await settle(cache.refresh(ipPolicies))
    expect(cache.get(ipPolicies, 'a')).toBeUndefined()
  })

  it('is remembered however many lists are made between two questions about it', async () => {
    const { api, cache, settle } = await listedWorld()
    api.store.delete('a')
    for (let i = 1; i <= 10; i++) await settle(cache.refresh(ipPolicies))
    expect(cache.missesOf(ipPolicies, 'a')).toHaveLength(10)
  })

  it('is reported to subscribers only', async () => {
    const { api, cache, settle } = await listedWorld()
    const other: string[] = []
    const unsubscribe = cache.subscribe(({ collection, id }) => other.push(`${collection.path}/${id}`))
    api.put('c')
    await settle(cache.refresh(ipPolicies))
    unsubscribe()
    api.put('d')
    await settle(cache.refresh(ipPolicies))
    expect(other).toEqual(['ip_policies/c'])
  })
})

describe('our own writes', () => {
  it('enter the cache, are no difference, and clear a suspicion', async () => {
    const { api, cache, heard, settle } = await listedWorld()
    await settle(cache.create(ipPolicies, { id: 'c' }))
    api.put('a', { description: 'foreign' })
    await settle(cache.refresh(ipPolicies))
    await settle(cache.update(ipPolicies, 'a', { description: 'ours' }))
    await settle(cache.delete(ipPolicies, 'b'))
    expect(cache.get(ipPolicies, 'a')).toMatchObject({ object: { description: 'ours' } })
    expect(cache.get(ipPolicies, 'a')?.suspect).toBeUndefined()
    expect(cache.isDeleted(ipPolicies, 'b')).toBe(true)
    expect(cache.isDeletedSinceList(ipPolicies, 'b', ipPolicies)).toBe(true)
    await settle(cache.refresh(ipPolicies))
    expect(cache.isDeletedSinceList(ipPolicies, 'b', ipPolicies)).toBe(false)
    expect(cache.isDeleted(ipPolicies, 'b')).toBe(true)
    expect(
      cache
        .all(ipPolicies)
        .map((object) => object.id)
        .sort(),
    ).toEqual(['a', 'c'])
    await settle(cache.refresh(ipPolicies))
    expect(heard).toEqual(['changed a'])
  })

  it.each(['create', 'update', 'delete'] as const)(
    'such as a %s are not undone by a list that began before the answer',
    async (write) => {
      const { clock, api, cache, heard, settle } = await listedWorld()
      api.delays = { there: 1, back: 100 }
      const list = cache.refresh(ipPolicies)
      await clock.advance(5)
      api.delays = { there: 1, back: 1 }
      if (write === 'create') await settle(cache.create(ipPolicies, { id: 'c' }))
      if (write === 'update') await settle(cache.update(ipPolicies, 'a', { description: 'ours' }))
      if (write === 'delete') await settle(cache.delete(ipPolicies, 'a'))
      const before = [...cache.all(ipPolicies)]
      await settle(list)
      expect(cache.all(ipPolicies)).toEqual(before)
      expect(heard).toEqual([])
      await settle(cache.refresh(ipPolicies))
      expect(cache.all(ipPolicies)).toEqual(before)
      expect(heard).toEqual([])
    },
  )

  it('are no difference either when a list shows them before their answer is in', async () => {
    const { clock, api, cache, heard, settle } = await listedWorld()
    api.delays = { there: 1, back: 100 }
    const writes = [
      cache.create(ipPolicies, { id: 'c' }),
      cache.update(ipPolicies, 'a', { description: 'ours' }),
      cache.delete(ipPolicies, 'b'),
    ]
    await clock.advance(5)
    api.delays = { there: 1, back: 1 }
    await settle(cache.refresh(ipPolicies))
    await settle(Promise.all(writes))
    await clock.advance(1)
    expect(heard).toEqual([])
    expect(
      cache
        .all(ipPolicies)
        .map((object) => object.id)
        .sort(),
    ).toEqual(['a', 'c'])
  })

  it('that create do not hide what somebody else created meanwhile', async () => {
    const { clock, api, cache, heard, settle } = await listedWorld()
    api.delays = { there: 1, back: 100 }
    const create = cache.create(ipPolicies, { id: 'c' })
    await clock.advance(5)
    api.put('d')
    api.delays = { there: 1, back: 1 }
    await settle(cache.refresh(ipPolicies))
    expect(heard).toEqual([])
    await settle(create)
    await clock.advance(1)
    expect(heard).toEqual(['appeared d'])
  })

  it.each([
    ['a create', (cache: AccountCache) => cache.create(ipPolicies, { id: 'c' })],
    ['an update', (cache: AccountCache) => cache.update(ipPolicyRules, 'b', { description: 'three' })],
    ['a GET', (cache: AccountCache) => cache.fetch(ipPolicyRules, 'b')],
  ] as const)('that create take the answer to %s, which came twice, for no answer', async (_title, earlier) => {
    const { cache, settle } = await listedWorld()
    const answered = await settle<RemoteObject | undefined>(earlier(cache))
    const late = { id: answered?.id ?? '', description: 'of another' }
    await expect(settle(cache.create(ipPolicies, late))).rejects.toMatchObject({
      code: 'InvalidResponse',
      definite: false,
    })
    expect(cache.get(ipPolicies, late.id)?.object?.description).not.toBe('of another')
  })

  it('that create take an answer that cannot be theirs for no answer', async () => {
    const { cache, settle } = await listedWorld((_body, { id }) => id !== 'c')
    await expect(settle(cache.create(ipPolicies, { id: 'c' }))).rejects.toMatchObject({
      code: 'InvalidResponse',
      definite: false,
    })
    expect(cache.get(ipPolicies, 'c')).toBeUndefined()
  })

  it('that create and lose their answer appear by the list', async () => {
    const { api, cache, heard, settle } = await listedWorld()
    api.loseAnswerOf = 'create'
    await expect(settle(cache.create(ipPolicies, { id: 'c' }))).rejects.toMatchObject({ code: 'Timeout' })
    await settle(cache.refresh(ipPolicies))
    expect(heard).toEqual(['appeared c'])
  })

  it('that lose their answer leave a suspicion for a GET to settle', async () => {
    const { api, cache, settle } = await listedWorld()
    api.loseAnswerOf = 'update'
    await expect(settle(cache.update(ipPolicies, 'a', { description: 'ours' }))).rejects.toMatchObject({
      code: 'Timeout',
    })
    expect(cache.get(ipPolicies, 'a')).toMatchObject({ suspect: 'changed' })
    expect(await settle(cache.fetch(ipPolicies, 'a'))).toMatchObject({ description: 'ours' })
    expect(cache.get(ipPolicies, 'a')?.suspect).toBeUndefined()
  })

  it('that are refused change nothing; a 404 makes the object suspect', async () => {
    const { api, cache, settle } = await listedWorld()
    const before = cache.get(ipPolicies, 'a')
    api.refuse = 'update'
    await expect(settle(cache.update(ipPolicies, 'a', {}))).rejects.toMatchObject({ code: 'Invalid' })
    expect(cache.get(ipPolicies, 'a')).toEqual(before)
    api.store.delete('a')
    await expect(settle(cache.update(ipPolicies, 'a', {}))).rejects.toMatchObject({ code: 'NotFound' })
    expect(cache.get(ipPolicies, 'a')).toEqual({ ...before, suspect: 'missed' })
  })

  it('are returned with the token, which is not kept', async () => {
    const { api, cache, heard, settle } = world()
    const created = await settle(cache.create(credentials, { id: 'cr_1', token: 'told-once' }))
    expect(created.token).toBe('told-once')
    expect(JSON.stringify(cache.all(credentials))).not.toContain('told-once')
    api.store.set('cr_1', { ...created, token: null })
    await settle(cache.refresh(credentials))
    expect(heard).toEqual([])
  })
})

describe('a key that an object had', () => {
  it('is reported when our write, a list or a deletion takes it away, and not while the object keeps it', async () => {
    const { api, clock, settle } = world()
    const keysOf = () => (object: RemoteObject) => ['all', `as ${String(object.description)}`]
    const cache = new AccountCache(api, clock, { keysOf })
    const lost: string[] = []
    cache.subscribeLostKeys((key) => lost.push(key))
    api.put('a', { description: 'one' })
    await settle(cache.ensureListed(ipPolicies))
    expect(lost).toEqual([])
    await settle(cache.update(ipPolicies, 'a', { description: 'two' }))
    expect(lost.splice(0)).toEqual(['as one'])
    await clock.advance(10)
    api.put('a', { description: 'three' })
    await settle(cache.ensureListed(ipPolicies, { since: clock.monotonic() }))
    expect(lost.splice(0)).toEqual(['as two'])
    await settle(cache.delete(ipPolicies, 'a'))
    expect(lost).toEqual(['all', 'as three'])
  })
})

describe('a 404 for an object', () => {
  const asks = [
    ['a GET', (cache: AccountCache) => cache.fetch(ipPolicies, 'a')],
    ['a DELETE', (cache: AccountCache) => cache.delete(ipPolicies, 'a')],
    ['a PATCH', (cache: AccountCache) => cache.update(ipPolicies, 'a', {}).catch(() => undefined)],
  ] as const

  it.each(asks)('in answer to %s is a suspicion that a later list refutes', async (_title, ask) => {
    const { api, cache, heard, settle } = await listedWorld()
    const before = cache.get(ipPolicies, 'a')
    const kept = api.store.get('a')
    api.store.delete('a')
    await settle<unknown>(ask(cache))
    expect(cache.get(ipPolicies, 'a')).toEqual({ ...before, suspect: 'missed' })
    expect(cache.isDeleted(ipPolicies, 'a')).toBe(false)
    expect(cache.all(ipPolicies)).toHaveLength(2)
    if (kept !== undefined) api.store.set('a', kept)
    await settle(cache.refresh(ipPolicies))
    expect(cache.get(ipPolicies, 'a')).toEqual(before)
    expect(heard).toEqual([])
  })

  it.each(asks)('in answer to %s is a suspicion that later lists confirm', async (_title, ask) => {
    const { clock, api, cache, heard, settle } = await listedWorld()
    api.delays = { there: 1, back: 100 }
    const earlier = cache.refresh(ipPolicies)
    await clock.advance(5)
    api.delays = { there: 1, back: 1 }
    api.store.delete('a')
    await settle<unknown>(ask(cache))
    await settle(earlier)
    expect(cache.missesOf(ipPolicies, 'a')).toEqual([])
    const lists = [clock.monotonic()]
    await settle(cache.refresh(ipPolicies))
    expect(cache.get(ipPolicies, 'a')).toEqual({ suspect: 'vanished' })
    // Another 404 does not restart it.
    await settle<unknown>(ask(cache))
    lists.push(clock.monotonic())
    await settle(cache.refresh(ipPolicies))
    expect(cache.missesOf(ipPolicies, 'a')).toEqual(lists)
    expect(heard).toEqual(['vanished a'])
  })

  it('tells nothing of an object that nothing is known of, until lists that begin after it was asked about', async () => {
    const { cache, settle } = await listedWorld()
    expect(await settle(cache.fetch(ipPolicies, 'x'))).toBeUndefined()
    expect(cache.get(ipPolicies, 'x')).toBeUndefined()
    expect(cache.missesOf(ipPolicies, 'x')).toEqual([])
    for (let lists = 1; lists <= 40; lists++) {
      await settle(cache.refresh(ipPolicies))
      expect(cache.missesOf(ipPolicies, 'x').length).toBeGreaterThan(Math.min(lists, 8) - 1)
      expect(cache.missesOf(ipPolicies, 'x').length).toBeLessThanOrEqual(16)
    }
  })
})

describe('a list that is slower than a later one', () => {
  it('does not bring back what we deleted before the later one', async () => {
    const { clock, api, cache, heard, settle } = await listedWorld()
    api.delays = { there: 1, back: 100 }
    const slow = cache.refresh(ipPolicies)
    await clock.advance(5)
    api.delays = { there: 1, back: 1 }
    await settle(cache.delete(ipPolicies, 'a'))
    await clock.advance(1)
    await settle(cache.refresh(ipPolicies))
    await settle(slow)
    expect(cache.get(ipPolicies, 'a')).toBeUndefined()
    expect(heard).toEqual([])
  })
})

describe('a GET', () => {
  it('that was overtaken by our own write is asked again', async () => {
    const { clock, api, cache, settle } = await listedWorld()
    api.delays = { there: 1, back: 100 }
    const slow = cache.fetch(ipPolicies, 'a')
    await clock.advance(5)
    api.delays = { there: 1, back: 1 }
    await settle(cache.update(ipPolicies, 'a', { description: 'ours' }))
    expect(await settle(slow)).toMatchObject({ description: 'ours' })
    expect(cache.get(ipPolicies, 'a')).toMatchObject({ object: { description: 'ours' } })
  })

  it('does not bring back what we deleted meanwhile, also after a list', async () => {
    const { clock, api, cache, settle } = await listedWorld()
    api.delays = { there: 1, back: 100 }
    const slow = cache.fetch(ipPolicies, 'a')
    await clock.advance(5)
    api.delays = { there: 1, back: 1 }
    await settle(cache.delete(ipPolicies, 'a'))
    await clock.advance(1)
    await settle(cache.refresh(ipPolicies))
    expect(await settle(slow)).toBeUndefined()
    expect(cache.get(ipPolicies, 'a')).toBeUndefined()
  })
})
