import { expect, test } from 'vitest'
import { AccountCache } from '../../../src/api/account-cache.ts'
import { collections } from '../../../src/api/collections.ts'
import { UnlistableError } from '../../../src/api/list-refusals.ts'
import { FakeClock } from '../../builders/fake-clock.ts'
import { ModelApi } from '../../builders/model-api.ts'

const { ipPolicies, ipPolicyRules } = collections

/** A cache that has listed the policy `a`. */
async function listedWorld() {
  const clock = new FakeClock()
  const api = new ModelApi(clock)
  let told = 0
  const cache = new AccountCache(api, clock, { onRefusal: () => told++ })
  const settle = async <T>(call: Promise<T>): Promise<PromiseSettledResult<T>> => {
    let open = true
    const settled = Promise.allSettled([call]).finally(() => {
      open = false
    })
    await clock.advance(0)
    while (open) await clock.advance(clock.nextTimerIn ?? 0)
    const [result] = await settled
    return result
  }
  api.put('a', { description: 'one' })
  await settle(cache.refresh(ipPolicies))
  await clock.advance(10)
  api.calls.length = 0
  return { clock, api, cache, settle, told: () => told }
}

type World = Awaited<ReturnType<typeof listedWorld>>

/** Asks for a list that is newer than any. */
const newList = ({ cache, clock, settle }: World) => {
  return settle(cache.ensureListed(ipPolicies, { since: clock.monotonic() }))
}

test.each([403, 404, 405, 410, 501])('a list answered %i closes its collection only', async (status) => {
  const world = await listedWorld()
  const { api, cache, settle, told } = world
  api.listStatus = status
  expect(await newList(world)).toMatchObject({ reason: { code: 'Unlistable', collection: ipPolicies, status } })
  expect(told()).toBe(1)
  expect(cache.refusalOf(ipPolicies)).toBeInstanceOf(UnlistableError)
  expect(cache.refusals()).toEqual([cache.refusalOf(ipPolicies)])
  expect(cache.refusalOf(ipPolicyRules)).toBeUndefined()
  api.listStatus = undefined
  expect((await settle(cache.ensureListed(ipPolicyRules))).status).toBe('fulfilled')
})

test.each([401, 429, 500, 503])('a list answered %i closes nothing', async (status) => {
  const world = await listedWorld()
  world.api.listStatus = status
  expect(await newList(world)).toMatchObject({ reason: { status } })
  expect(world.cache.refusals()).toEqual([])
  expect(world.told()).toBe(0)
})

test('in a closed collection nothing is read or written, and what was known of it stays', async () => {
  const world = await listedWorld()
  const { api, cache, settle, told } = world
  api.listStatus = 403
  await newList(world)
  api.calls.length = 0
  const origin = { because: 'spec' } as never
  const calls: readonly (() => Promise<unknown>)[] = [
    () => cache.fetch(ipPolicies, 'a'),
    () => cache.create(ipPolicies, { id: 'b' }, { origin }),
    () => cache.update(ipPolicies, 'a', {}, { origin }),
    () => cache.delete(ipPolicies, 'a', { origin }),
  ]
  for (const call of calls)
    expect(await settle(call())).toMatchObject({ reason: { code: 'Unlistable', definite: true } })
  expect(await newList(world)).toMatchObject({ reason: { code: 'Unlistable' } })
  expect(api.calls).toEqual([])
  expect(told()).toBe(1)
  expect(cache.get(ipPolicies, 'a')?.object?.description).toBe('one')
  // A caller that needs no newer list has what it needs.
  expect(await settle(cache.ensureListed(ipPolicies))).toMatchObject({ value: false })
})

test('a closed collection opens with its next complete list, which only a refresh makes', async () => {
  const world = await listedWorld()
  const { api, cache, settle } = world
  api.listStatus = 404
  await newList(world)
  api.listStatus = undefined
  api.calls.length = 0
  expect(await settle(cache.refresh(ipPolicies))).toMatchObject({ status: 'fulfilled' })
  expect(cache.refusalOf(ipPolicies)).toBeUndefined()
  expect((await settle(cache.fetch(ipPolicies, 'a'))).status).toBe('fulfilled')
})

test('a refresh is refused with the answer itself, and keeps the first words of a status', async () => {
  const { api, cache, settle } = await listedWorld()
  api.listStatus = 403
  expect(await settle(cache.refresh(ipPolicies))).toMatchObject({ reason: { code: 'Forbidden' } })
  const first = cache.refusalOf(ipPolicies)
  await settle(cache.refresh(ipPolicies))
  expect(cache.refusalOf(ipPolicies)).toBe(first)
  api.listStatus = 404
  await settle(cache.refresh(ipPolicies))
  expect(cache.refusalOf(ipPolicies)?.status).toBe(404)
})

test('a refusal that arrives after a newer complete list closes nothing', async () => {
  const { api, cache, clock, settle } = await listedWorld()
  api.listStatus = 403
  api.delays = { there: 1, back: 100 }
  const slow = cache.refresh(ipPolicies)
  const refused = slow.catch((error: unknown) => error)
  await clock.advance(5)
  api.listStatus = undefined
  api.delays = { there: 1, back: 1 }
  await settle(cache.refresh(ipPolicies))
  await clock.advance(200)
  expect(await refused).toMatchObject({ status: 403 })
  expect(cache.refusalOf(ipPolicies)).toBeUndefined()
})

test('a list that began before the refusal does not open the collection', async () => {
  const { api, cache, clock, settle } = await listedWorld()
  api.delays = { there: 1, back: 100 }
  const slow = cache.refresh(ipPolicies)
  await clock.advance(5)
  api.listStatus = 403
  api.delays = { there: 1, back: 1 }
  await settle(cache.refresh(ipPolicies))
  await settle(slow)
  expect(cache.refusalOf(ipPolicies)?.status).toBe(403)
})
