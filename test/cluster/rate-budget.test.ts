import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { until } from './support/wait.ts'
import { conditionOf, World } from './support/world.ts'

const POLICIES = 50
const RULES = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']
const CREATES = POLICIES * (1 + RULES.length)
const PER_MINUTE = 120
const BURST = 10

/** A world in which all policies wait when the operator starts, and in which nobody but the operator calls the API. */
async function openWaiting(): Promise<World> {
  const world = await World.open({
    operator: false,
    emulator: { rateLimit: { requests: PER_MINUTE, periodMs: 60_000 } },
    account: { rateLimit: { requestsPerMinute: PER_MINUTE, burst: BURST } },
  })
  const rules = RULES.map((cidr) => ({ cidr, action: 'Allow' }))
  const names = Array.from({ length: POLICIES }, (_, index) => `policy-${index}`)
  await Promise.all(names.map((name) => world.apply('IPPolicy', name, { rules })))
  await world.startOperator()
  // Most wait for longer than half a minute, and say so.
  await until('all say something', async () => (await untold(world)) === 0, { timeoutMs: 60_000 })
  const waiting = (await world.list('IPPolicy')).filter(({ status }) => status?.id === undefined)
  expect(waiting.length).toBeGreaterThan(POLICIES / 4)
  expect(new Set(waiting.map((cr) => conditionOf(cr, 'Ready')?.reason))).toEqual(new Set(['Progressing']))
  for (const name of names) await world.ready('IPPolicy', name, 200_000)
  return world
}

/** Policies without any condition. */
async function untold(world: World): Promise<number> {
  return (await world.list('IPPolicy')).filter((cr) => conditionOf(cr, 'Ready') === undefined).length
}

function elapsedMs(requests: readonly JournalEntry[]): number {
  return Date.parse(requests.at(-1)?.time ?? '') - Date.parse(requests[0]?.time ?? '')
}

test('50 policies with three rules each are created no faster than 120 requests a minute, and none is refused', {
  timeout: 240_000,
  tags: 'nightly',
}, async () => {
  await using world = await openWaiting()
  const requests = world.journal()
  expect(requests.filter(({ status }) => status === 429)).toEqual([])
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(CREATES)
  // Beside the creates only lists: of policies and rules, when the account is looked at first and when the creates
  // begin.
  expect(requests.length).toBeLessThanOrEqual(CREATES + 4)
  // The first ten at once, then one each half second: 203 requests take 96.5 s.
  const budgetMs = (requests.length - BURST) * (60_000 / PER_MINUTE)
  expect(elapsedMs(requests)).toBeGreaterThan(0.9 * budgetMs)
})
