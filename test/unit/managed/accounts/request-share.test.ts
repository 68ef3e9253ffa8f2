import { describe, expect, test } from 'vitest'
import { RequestShare } from '../../../../src/managed/accounts/request-share.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'

/** Number of turns of `cost` requests for each `waiting` member in `minutes`, if each returns when it was asked to. */
async function turnsIn(
  minutes: number,
  { perMinute, cost, waiting }: { perMinute: number; cost: number; waiting: number },
) {
  const clock = new FakeClock()
  const share = new RequestShare(clock, perMinute)
  const members = Array.from({ length: waiting }, (_, index) => ({ who: `m-${index}`, at: 0, turns: 0, asked: 0 }))
  for (let now = 0; now < minutes * 60_000; now += 50) {
    for (const member of members) {
      if (member.at > now) continue
      member.asked++
      const ms = share.waitMs(member.who)
      if (ms === 0) {
        member.turns++
        for (let sent = 0; sent < cost; sent++) share.spend()
      }
      member.at = now + Math.max(50, ms)
    }
    await clock.advance(50)
  }
  return members
}

const total = (members: readonly { readonly turns: number }[]): number =>
  members.reduce((sum, { turns }) => sum + turns, 0)

describe('a share of the requests of an account', () => {
  test('lets nobody wait while it is not used up', () => {
    const share = new RequestShare(new FakeClock(), 60)
    expect(share.waitMs('a')).toBe(0)
    expect(share.waitMs('b')).toBe(0)
    for (let sent = 0; sent < 3; sent++) share.spend()
    expect(share.waitMs('c')).toBeGreaterThan(0)
  })

  test.each([
    { perMinute: 60, cost: 1, waiting: 5 },
    { perMinute: 60, cost: 3, waiting: 40 },
    { perMinute: 6, cost: 2, waiting: 3 },
    { perMinute: 1, cost: 5, waiting: 4 },
    { perMinute: 600, cost: 4, waiting: 200 },
  ])(
    'keeps to its number on average, and nearly uses it: $perMinute a minute, $cost each, $waiting waiting',
    async (how) => {
      const members = await turnsIn(30, how)
      const sent = total(members) * how.cost
      expect(sent).toBeLessThanOrEqual(how.perMinute * 30 + how.perMinute / 20 + how.cost)
      expect(sent).toBeGreaterThan(how.perMinute * 30 * 0.85)
    },
  )

  test('gives all who wait their turns, and asks none of them back in vain for ever', async () => {
    const members = await turnsIn(60, { perMinute: 60, cost: 3, waiting: 40 })
    const turns = members.map((member) => member.turns)
    expect(Math.min(...turns)).toBeGreaterThan((0.5 * total(members)) / 40)
    const asked = members.reduce((sum, member) => sum + member.asked, 0)
    // One returns in each pause between two requests, and asks for the next turn right after one.
    expect(asked).toBeLessThanOrEqual(60 * 60 + total(members) + 40)
  })

  test('tells who comes back too early the same time again', async () => {
    const clock = new FakeClock()
    const share = new RequestShare(clock, 6)
    share.waitMs('a')
    share.spend()
    const first = share.waitMs('b')
    expect(share.waitMs('c')).toBeGreaterThan(first)
    await clock.advance(1000)
    expect(share.waitMs('b')).toBe(first - 1000)
    await clock.advance(first - 1000)
    expect(share.waitMs('b')).toBe(0)
  })

  test('waits for nobody who does not come back', async () => {
    const clock = new FakeClock()
    const share = new RequestShare(clock, 6)
    share.waitMs('a')
    share.spend()
    for (const gone of ['b', 'c', 'd']) share.waitMs(gone)
    await clock.advance(180_000)
    expect(share.waitMs('e')).toBe(0)
  })
})
