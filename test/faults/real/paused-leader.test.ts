import { expect, test } from 'vitest'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import { isWatch, type PassingRequest, type ProxyAct } from '../../builders/kube-proxy.ts'
import { expectOneEach } from '../../cluster/ha/one-each.ts'
import { markIn } from '../../cluster/ha/owners.ts'
import { applyNeeds, casesTitled, expectRules, managed } from '../../cluster/support/cases.ts'
import type { Replica } from '../../cluster/support/replica.ts'
import { hasToken } from '../../cluster/support/tokens.ts'
import { until } from '../../cluster/support/wait.ts'
import type { World } from '../../cluster/support/world.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { type Case, CaseList } from '../support/case-list.ts'
import { type LifeStage, lifeStages, livesOf, resourcesOf, settleAll } from './support-kube/lives.ts'
import { Replicas } from './support-kube/replicas.ts'
import { sharedWrites, textOf, type Write } from './support-kube/writes.ts'

const cases = casesTitled('minimal')
const [CREATE, DELETE] = ['create', 'delete'].map((name) => lifeStages.find((stage) => stage.name === name))
/** Resources of each kind that live undisturbed while their writes are recorded. */
const WITNESSES = ['a', 'b']
/** As many rounds as needed; on a busy machine a resource may not reach its stop in time. */
const ROUNDS = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']
const WANTED = 60
/** Fewer requests than an operator has in flight at once to the apiserver, and to an account. */
const TOGETHER = { kube: 12, api: 6 }
const withTokens = new Set(managed.filter(hasToken).map(({ definition }) => definition.kind))

/** A write at which to pause the leader, and whether it has been carried out by then. */
interface Stop {
  readonly kind: string
  readonly write: Write
  readonly when: 'before' | 'after'
}

/** A resource on its way to its stop. */
interface Walk extends Manifest {
  readonly stop: Stop
}

test('a leader that is paused at any write of a create or a deletion and wakes while another leads writes nothing twice', {
  timeout: 900_000,
}, async () => {
  const list = new CaseList('paused leader', 'real', { least: 30 })
  await using replicas = await Replicas.open()
  const { world } = replicas
  let leader = await replicas.start()
  await leader.operator.reconciling()
  await applyNeeds(world, cases, [...WITNESSES, ...ROUNDS])
  const stops = mixed(await stopsOf(replicas))
  let count = 0
  for (const round of ROUNDS) {
    if (count >= WANTED) break
    const next = await replicas.start()
    const walks = walksOf(takeRound(stops), round)
    const stopped = await pauseAmid(replicas, walks, { leader, next })
    count += stopped.length
    for (const walk of stopped) list.passed(caseOf(walk))
    stops.push(...walks.filter((walk) => !stopped.includes(walk)).map(({ stop }) => stop))
    leader = next
  }
  await list.end()
})

/** The writes of each kind up to its first object, and those of its deletion. */
async function stopsOf({ world, writes }: Replicas): Promise<readonly (readonly Stop[])[]> {
  const witnesses = WITNESSES.flatMap((suffix) => livesOf(cases, suffix))
  for (const stage of [CREATE, DELETE]) {
    for (const { name } of witnesses) writes.enter(name, stageOf(stage).name)
    await through(world, stageOf(stage), witnesses)
  }
  return cases.map(({ kind }) => {
    const passed = witnesses.filter((each) => each.kind === kind).map(({ name }) => writes.passed(name))
    return [CREATE, DELETE].flatMap((stage) => {
      return sharedWrites(passed, stageOf(stage).name).flatMap((write) => {
        return (['before', 'after'] as const).map((when) => ({ kind, write, when }))
      })
    })
  })
}

/** The stops of all kinds in turn; each kind begins at a different one. */
function mixed(stops: readonly (readonly Stop[])[]): Stop[] {
  const most = Math.max(...stops.map(({ length }) => length))
  return Array.from({ length: most }, (_, turn) => turn)
    .flatMap((turn) => {
      return stops.flatMap((own, index) => (turn < own.length ? [own[(turn + 5 * index) % own.length]] : []))
    })
    .filter((stop) => stop !== undefined)
}

/** Takes as many as can be held at once, at most one of each kind. */
function takeRound(stops: Stop[]): readonly Stop[] {
  const taken: Stop[] = []
  const take = (room: number, isHere: (stop: Stop) => boolean): void => {
    const most = taken.length + room
    for (const stop of stops) {
      const isTaken = taken.some(({ kind }) => kind === stop.kind)
      if (taken.length < most && isHere(stop) && !isTaken) taken.push(stop)
    }
  }
  take(TOGETHER.api, isAtApi)
  take(TOGETHER.kube, (stop) => !isAtApi(stop))
  for (const stop of taken) stops.splice(stops.indexOf(stop), 1)
  return taken
}

/** The resource for each stop. */
function walksOf(stops: readonly Stop[], round: string): readonly Walk[] {
  return stops.flatMap((stop) => {
    const own = cases.filter(({ kind }) => kind === stop.kind)
    return livesOf(own, round).map((subject) => ({ ...subject, stop }))
  })
}

/**
 * Pauses the leader while its requests are held, lets the other replica take over, and wakes it. @returns the walks
 * that were at their stops.
 */
async function pauseAmid(
  { world, writes, api }: Replicas,
  walks: readonly Walk[],
  { leader, next }: { readonly leader: Replica; readonly next: Replica },
): Promise<readonly Walk[]> {
  const of = (stage: LifeStage) => walks.filter(({ stop }) => stop.write.stage === stage.name)
  const leaving = of(stageOf(DELETE))
  for (const { name } of leaving) writes.enter(name, 'before its deletion')
  await through(world, stageOf(CREATE), leaving)
  for (const { name, stop } of walks)
    writes.enter(name, stop.write.stage, { write: stop.write, fault: holding(stop.when) })
  for (const stage of [CREATE, DELETE].map(stageOf)) {
    await Promise.all(of(stage).map((walk) => stage.begin(world, walk)))
  }
  await until('every resource has come to its stop', () => walks.every(({ name }) => writes.held(name) !== undefined), {
    timeoutMs: 5_000,
  }).catch(() => undefined)
  leader.operator.signal('SIGSTOP')
  const held = new Map(walks.map((walk) => [walk, writes.held(walk.name)]))
  const stopped = walks.filter((walk) => held.get(walk) !== undefined)
  await next.operator.reconciling()
  for (const stage of [CREATE, DELETE].map(stageOf)) await settle(world, stage, of(stage))

  // Both servers are as late as possible: they carry out the requests of the paused process, whose answers wait until
  // it resumes.
  const late = world.mark()
  writes.release()
  const statusOf = (walk: Walk): number | undefined => {
    const request = held.get(walk)
    return request && (isAtApi(walk.stop) ? api : leader.kube).statusOf(request)
  }
  await until('what was held is answered', () => stopped.every((walk) => statusOf(walk) !== undefined))
  for (const walk of stopped.filter(({ stop }) => stop.when === 'before' && !isAtApi(stop))) {
    expect(statusOf(walk), JSON.stringify(walk.stop)).toBeGreaterThanOrEqual(400)
  }
  const copies = world.writes(late).filter(isCreated)

  const mark = world.mark()
  const work = leader.kube.intercept((request) => (isWork(request) ? { type: 'drop', when: 'before' } : undefined))
  leader.operator.signal('SIGCONT')
  expect(await leader.operator.exited()).toBe(1)
  expect(work.requests).toEqual([])
  expect(world.writes(mark)).toEqual([])

  // The next resync of its successor finds what it created.
  await world.resync()
  const paths = copies.map(({ path, responseId }) => `${path}/${responseId}`)
  await until('the copies are gone', async () => {
    return (await Promise.all(paths.map((path) => world.api.get(path)))).every(({ status }) => status === 404)
  })
  await expectOneEach(world)
  await expectRules(world)
  await expectNotTwice(world, walks)
  return stopped
}

/** No resource has more objects created than there is a reason for: a late copy or a lost token. */
async function expectNotTwice(world: World, walks: readonly Walk[]): Promise<void> {
  const crs = await resourcesOf(world, walks)
  for (const { kind, name, spec, stop } of walks) {
    const uid = crs.get(name)?.metadata.uid
    const descriptor = managed.find(({ definition }) => definition.kind === kind)
    const path = `/${descriptor?.identity.collectionOf(spec).path}`
    const made = world.writes().filter((entry) => isCreated(entry) && entry.path === path && markIn(entry)?.uid === uid)
    if (uid === undefined) continue
    const isLate = stop.when === 'before' && stop.write.sort.startsWith(`API POST ${path}`)
    const most = 1 + Number(isLate) + Number(withTokens.has(kind))
    expect(made.length, `${kind} ${textOf(stop.write)}`).toBeGreaterThanOrEqual(1)
    expect(made.length, `${kind} ${textOf(stop.write)}`).toBeLessThanOrEqual(most)
  }
}

async function through(world: World, stage: LifeStage, subjects: readonly Manifest[]): Promise<void> {
  await Promise.all(subjects.map((subject) => stage.begin(world, subject)))
  await settle(world, stage, subjects)
}

async function settle(world: World, stage: LifeStage, subjects: readonly Manifest[]): Promise<void> {
  expect(await settleAll(world, subjects, stage, new Map())).toEqual(new Map())
}

function holding(when: 'before' | 'after'): { readonly times: number; act(): ProxyAct } {
  return { times: 1, act: () => ({ type: 'hold', when }) }
}

function stageOf(stage: LifeStage | undefined): LifeStage {
  if (stage === undefined) throw new Error('a life has no such stage')
  return stage
}

function isAtApi({ write }: Stop): boolean {
  return write.sort.startsWith('API ')
}

function isCreated({ method, status }: JournalEntry): boolean {
  return method === 'POST' && status === 201
}

/** Lease renewals and reads do not count as work. */
function isWork(request: PassingRequest): boolean {
  return request.method !== 'GET' && !isWatch(request) && !request.path.includes('/leases')
}

function caseOf({ stop }: Walk): Case {
  const point = stop.when === 'before' ? 'carried out late' : 'carried out, not answered'
  return { write: `${stop.kind} minimal / ${textOf(stop.write)}`, point, fault: 'SIGSTOP, take-over, SIGCONT' }
}
