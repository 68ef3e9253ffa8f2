import { expect, test } from 'vitest'
import { collections } from '../../../../src/api/collections.ts'
import { ApiError } from '../../../../src/api/errors.ts'
import { UnlistableError } from '../../../../src/api/list-refusals.ts'
import type { Collection } from '../../../../src/api/types.ts'
import { ClosedCollections } from '../../../../src/managed/accounts/closed-collections.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'

const { ipPolicies, tcpEdges } = collections
const web = { kind: 'IPPolicy', namespace: 'shop', name: 'web' }
const retryMs = (failures: number): number => 1_000 * 2 ** failures

const refusalOf = (collection: Collection) => {
  return new UnlistableError(collection, new ApiError('Forbidden', 'no', { definite: true, status: 403 }))
}

function open() {
  const clock = new FakeClock()
  const closed = new ClosedCollections(clock)
  return { clock, closed, note: (...list: Collection[]) => closed.note(list.map(refusalOf), retryMs) }
}

test('a collection is reported once when it closes, and is tried ever more rarely', async () => {
  const { clock, closed, note } = open()
  expect(closed.nextRetryAt).toBe(Number.POSITIVE_INFINITY)
  expect(note(ipPolicies)).toEqual({ closed: [ipPolicies], ended: [] })
  expect(closed.has(ipPolicies.path)).toBe(true)
  const pauses: number[] = []
  for (let tries = 0; tries < 4; tries++) {
    const pause = closed.nextRetryAt - clock.monotonic()
    pauses.push(pause)
    expect(closed.due).toEqual([])
    await clock.advance(pause)
    expect(closed.due).toEqual([ipPolicies])
    expect(note(ipPolicies)).toEqual({ closed: [], ended: [] })
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000])
})

test('each collection has pauses of its own', async () => {
  const { clock, closed, note } = open()
  note(ipPolicies)
  await clock.advance(500)
  expect(note(ipPolicies, tcpEdges).closed).toEqual([tcpEdges])
  await clock.advance(500)
  expect(closed.due).toEqual([ipPolicies])
  note(ipPolicies, tcpEdges)
  await clock.advance(500)
  expect(closed.due).toEqual([tcpEdges])
})

test('a caller that waits for a collection is woken once, when it opens', () => {
  const { closed, note } = open()
  note(ipPolicies)
  closed.await(ipPolicies.path, web)
  closed.await(ipPolicies.path, web)
  expect(note(ipPolicies).ended).toEqual([])
  expect(note().ended).toEqual([web])
  expect(closed.has(ipPolicies.path)).toBe(false)
  expect(note().ended).toEqual([])
})

test('a collection that nobody has waited for lately is no longer awaited', async () => {
  const { clock, closed } = open()
  expect(closed.isAwaited(ipPolicies)).toBe(false)
  closed.await(ipPolicies.path, web)
  expect(closed.isAwaited(ipPolicies)).toBe(true)
  await clock.advance(10 * 60_000)
  expect(closed.isAwaited(ipPolicies)).toBe(false)
})
