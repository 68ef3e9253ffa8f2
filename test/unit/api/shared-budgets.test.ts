import { expect, test } from 'vitest'
import { type BudgetShare, SharedBudgets } from '../../../src/api/shared-budgets.ts'
import type { Random } from '../../../src/util/random.ts'
import { FakeClock } from '../../builders/fake-clock.ts'

const middle: Random = { next: () => 0.5, hex: (bytes) => '00'.repeat(bytes) }

function open(): { clock: FakeClock; budgets: SharedBudgets } {
  const clock = new FakeClock()
  return { clock, budgets: new SharedBudgets({ clock, random: middle }) }
}

/** How many of `calls` calls begin within `ms`. */
async function begun(clock: FakeClock, share: BudgetShare, calls: number, ms: number): Promise<number> {
  let count = 0
  for (let call = 0; call < calls; call++) {
    void share.acquire('edit').then((release) => {
      count++
      release()
    })
  }
  await clock.advance(ms)
  return count
}

test('a 429 to one account holds the others with the same address and key, and no others', async () => {
  const { clock, budgets } = open()
  const [one, two, other] = [budgets.join('a', {}), budgets.join('a', {}), budgets.join('b', {})]
  one.hold(60_000)
  expect([one.heldForMs, two.heldForMs, other.heldForMs]).toEqual([60_000, 60_000, 0])
  expect(await begun(clock, two, 1, 59_000)).toBe(0)
  expect(await begun(clock, other, 1, 0)).toBe(1)
})

test('accounts with the same address and key keep to the lowest of their limits together', async () => {
  const { clock, budgets } = open()
  const one = budgets.join('a', { requestsPerMinute: 600, burst: 100 })
  const two = budgets.join('a', { requestsPerMinute: 60, burst: 1 })
  expect((await begun(clock, one, 50, 10_000)) + (await begun(clock, two, 50, 10_000))).toBeLessThanOrEqual(21)
})

test('the limit of an account that is not in use any more does not count', async () => {
  const { clock, budgets } = open()
  const one = budgets.join('a', { requestsPerMinute: 600, burst: 10 })
  budgets.join('a', { requestsPerMinute: 1, burst: 1 }).leave()
  expect(await begun(clock, one, 10, 0)).toBe(10)
})

test('a pause outlasts the accounts that it holds', async () => {
  const { clock, budgets } = open()
  const one = budgets.join('a', {})
  one.leave()
  one.hold(60_000)
  await clock.advance(30_000)
  const again = budgets.join('a', {})
  expect(again.heldForMs).toBe(30_000)
})

test('the calls of one account that wait can be ended alone', async () => {
  const { clock, budgets } = open()
  const limits = { requestsPerMinute: 60, burst: 1 }
  const [one, two] = [budgets.join('a', limits), budgets.join('a', limits)]
  ;(await one.acquire('edit'))()
  const ended = expect(one.acquire('edit')).rejects.toThrow('gone')
  const stays = two.acquire('edit')
  one.endWaiting(new Error('gone'))
  await ended
  await clock.advance(2_000)
  ;(await stays)()
})
