import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { AuditLog } from './support/audit-log.ts'
import { applyAll, applyNeeds, casesTitled, managed, subjectsOf } from './support/cases.ts'
import { until } from './support/wait.ts'
import { World } from './support/world.ts'

const POLICIES = 150
const RULES = 2
/** Longer than the operator's own timers, polls aside, and several resyncs. */
const REST_MS = 35_000
/** What the API puts on a page when nothing is asked for. */
const PAGE = 100

/** A full resource of every kind, and all that they refer to, Ready. */
async function applyEveryKind(world: World): Promise<void> {
  const cases = casesTitled('full')
  await applyNeeds(world, cases, ['steady'])
  const subjects = subjectsOf(cases, 'steady')
  await applyAll(world, subjects)
  for (const { kind, name } of subjects) await world.ready(kind, name, 60_000)
}

async function applyPolicies(world: World): Promise<void> {
  const numbers = Array.from({ length: POLICIES }, (_, index) => index)
  await Promise.all(
    numbers.map(async (number) => {
      const rules = Array.from({ length: RULES }, (_, rule) => ({
        cidr: `10.${rule}.${number % 256}.0/24`,
        action: 'Allow',
      }))
      await world.apply('IPPolicy', `policy-${number}`, { rules })
    }),
  )
  for (const number of numbers) await world.ready('IPPolicy', `policy-${number}`, 60_000)
}

/** First pages of a collection that every resync lists: one each resync. */
function resyncs(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  return entries.filter(({ path, query }) => path === '/ip_policies' && query === '')
}

function resyncsSince(
  world: World,
  mark: number,
  atLeast: (resyncs: readonly JournalEntry[]) => boolean,
  timeoutMs: number,
) {
  const look = (): boolean => atLeast(resyncs(world.journal(mark)))
  return until('resyncs were made', look, { timeoutMs, describe: () => resyncs(world.journal(mark)) })
}

/** The collections that the resources of a world live in, each with how many objects there are. */
async function collectionsInUse(world: World): Promise<ReadonlyMap<string, number>> {
  const inUse = new Map<string, number>()
  for (const {
    definition,
    identity: { collectionOf },
    children,
  } of managed) {
    for (const { spec } of await world.list(definition.kind)) {
      const paths = [collectionOf(spec as Parameters<typeof collectionOf>[0]).path, children?.collection.path]
      for (const path of paths) {
        if (path !== undefined && !inUse.has(path)) inUse.set(path, (await world.remote(path)).length)
      }
    }
  }
  return inUse
}

/** Events of the world that were recorded, not merely written, at or after a time. */
async function eventsSince(world: World, time: number): Promise<readonly KubeObject[]> {
  const type = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event', namespaced: true }
  const { items } = await world.kube.list<KubeObject & { eventTime: string }>(type, { namespace: world.namespace })
  return items.filter(({ eventTime }) => Date.parse(eventTime) >= time)
}

test('nothing is written while nothing changes, and a resync of 150 policies costs only pages', {
  timeout: 240_000,
  tags: 'nightly',
}, async () => {
  await using world = await World.open({ resyncInterval: '4s', leaderElect: true })
  await applyEveryKind(world)
  await applyPolicies(world)
  const audit = AuditLog.ofSuite()
  const inUse = await collectionsInUse(world)
  const reconciled = (): Promise<number> =>
    world.operator.metric('controller_runtime_reconcile_total', 'controller="IPPolicy"')
  const [mark, kubeMark, readyAt] = [world.mark(), await audit.mark(), Date.now()]

  // What was under way when the last resource became Ready has ended by the first resync.
  await resyncsSince(world, mark, (seen) => seen.length > 0, 60_000)
  const before = await reconciled()
  expect(before).toBeGreaterThanOrEqual(POLICIES)
  const whole = (seen: readonly JournalEntry[]): boolean => {
    return Date.parse(seen.at(-1)?.time ?? '') - readyAt >= REST_MS
  }
  await resyncsSince(world, mark, whole, 120_000)

  const requests = world.journal(mark)
  expect(requests.filter(({ method }) => method !== 'GET')).toEqual([])
  expect(await audit.operatorWrites([world.namespace, world.operatorNamespace], kubeMark)).toEqual([])
  expect(await eventsSince(world, readyAt)).toEqual([])

  // All but the last resync, which may still be under way.
  const last = resyncs(requests).at(-1)?.seq ?? 0
  const complete = requests.filter(({ seq }) => seq < last)
  const listed = Map.groupBy(complete, ({ path }) => path.slice(1))
  expect(new Set(listed.keys())).toEqual(new Set(inUse.keys()))
  const count = resyncs(complete).length
  expect(count).toBeGreaterThanOrEqual(5)
  for (const [path, objects] of inUse) {
    const pages = Math.max(1, Math.ceil(objects / PAGE))
    expect(listed.get(path)?.length, `requests for the ${objects} objects of ${path} in ${count} resyncs`).toBe(
      count * pages,
    )
  }
  expect(await reconciled()).toBe(before)
})

test('a restarted operator writes nothing when nothing changed meanwhile', async () => {
  await using world = await World.open({ resyncInterval: '2s', leaderElect: true })
  await applyEveryKind(world)
  const audit = AuditLog.ofSuite()
  await world.operator.stop()
  const [mark, kubeMark, stoppedAt] = [world.mark(), await audit.mark(), Date.now()]
  const operator = await world.startOperator()
  for (const { definition } of managed) {
    const { kind } = definition
    const crs = await world.list(kind)
    expect(crs.length).toBeGreaterThan(0)
    const seen = (): Promise<number> => operator.metric('controller_runtime_reconcile_total', `controller="${kind}"`)
    await until(`every ${kind} was reconciled`, async () => (await seen()) >= crs.length, { timeoutMs: 60_000 })
  }
  await resyncsSince(world, mark, (seen) => seen.length >= 4, 60_000)
  expect(world.writes(mark)).toEqual([])
  expect(await audit.operatorWrites([world.namespace, world.operatorNamespace], kubeMark)).toEqual([])
  expect(await eventsSince(world, stoppedAt)).toEqual([])
})
