import { expect, inject, test } from 'vitest'
import { KubeProxy, type PassingRequest } from '../../builders/kube-proxy.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { applyAll, applyNeeds, casesTitled, managed, subjectsOf } from '../support/cases.ts'
import { type Replica, SHORT_LEASE, startReplica } from '../support/replica.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'
import { expectOneEach } from './one-each.ts'
import { report } from './report.ts'

/** Requests that hang at a time: fewer than are sent to an account at a time. */
const TOGETHER = 7

/** A request of a leader that is frozen while the API has it. */
interface Case extends Manifest {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
}

/** Every write to Kubernetes but those to the Lease: renewing one is no work. */
const isWork = ({ method, path }: PassingRequest): boolean => method !== 'GET' && !path.includes('/leases')

async function replicaOf(world: World, resources: AsyncDisposableStack): Promise<Replica> {
  return startReplica(world, resources.use(await KubeProxy.start(inject('kubeconfigPath'))))
}

test('a leader frozen in the middle of a create or deletion of any kind leaves at most a copy that the next resync removes', {
  timeout: 900_000,
  tags: 'nightly',
}, async () => {
  await using resources = new AsyncDisposableStack()
  const world = resources.use(await World.open({ leaderElect: true, flags: SHORT_LEASE, operator: false }))
  const first = await replicaOf(world, resources)
  await first.operator.reconciling()
  const specs = casesTitled('minimal')
  const [made, gone] = [subjectsOf(specs, 'made'), subjectsOf(specs, 'gone')]
  await applyNeeds(world, specs, ['made', 'gone'])
  await applyAll(world, gone)
  const ids = new Map<string, string>()
  for (const { kind, name } of gone) ids.set(name, (await world.ready(kind, name, 60_000)).status?.id ?? '')
  const cases: readonly Case[] = [
    ...made.map((subject) => ({ ...subject, method: 'POST' as const, path: pathOf(subject) })),
    ...gone.map((subject) => {
      return { ...subject, method: 'DELETE' as const, path: `${pathOf(subject)}/${ids.get(subject.name)}` }
    }),
  ]

  const counts = { lateCreates: 0, lateRefusals: 0, lateDeletions: 0, copies: 0, removed: 0, written: 0 }
  let leader = first
  for (let at = 0; at < cases.length; at += TOGETHER) {
    const round = cases.slice(at, at + TOGETHER)
    const next = await replicaOf(world, resources)
    await freezeAmid(world, round, { leader, next }, counts)
    leader = next
  }
  await expectOneEach(world)
  report('leaders frozen in the middle of a request, thawed once another led', {
    'creates, deletions': `${made.length}, ${gone.length}`,
    'creates that took effect late': counts.lateCreates,
    'creates that were refused late': counts.lateRefusals,
    'deletions answered late': counts.lateDeletions,
    'copies that were there before the next pass': counts.copies,
    'copies that it removed': counts.removed,
    'writes of a former leader after its thaw': counts.written,
  })
  expect(counts).toMatchObject({ lateDeletions: gone.length, removed: counts.lateCreates, written: 0 })
  expect(counts.lateCreates + counts.lateRefusals).toBe(made.length)
  expect(counts.copies).toBe(counts.lateCreates)
})

type Counts = Record<'lateCreates' | 'lateRefusals' | 'lateDeletions' | 'copies' | 'removed' | 'written', number>

async function freezeAmid(
  world: World,
  round: readonly Case[],
  { leader, next }: { readonly leader: Replica; readonly next: Replica },
  counts: Counts,
): Promise<void> {
  const { admin } = world.emulator
  const faults = round.map(({ method, path }) => {
    return admin.addFault({ match: { method, path, times: 1 }, act: { type: 'hang', when: 'before' } }).id
  })
  const held = () => world.journal().filter(({ fault }) => fault !== null && faults.includes(fault))
  await Promise.all(
    round.map(({ method, kind, name, spec }) => {
      return method === 'POST' ? world.apply(kind, name, spec) : world.delete(kind, name)
    }),
  )
  await until(`${round.length} requests hang`, () => held().length === round.length, { timeoutMs: 60_000 })
  leader.operator.signal('SIGSTOP')
  await next.operator.reconciling()
  for (const { method, kind, name } of round) {
    if (method === 'POST') await world.ready(kind, name, 90_000)
    else await world.gone(kind, name, 90_000)
  }

  // The API is as late as it can be: it carries out the requests of the frozen process now; their answers await its
  // thaw.
  for (const id of faults) admin.deleteFault(id)
  await until('the late requests were answered', () => held().every(({ answeredSeq }) => answeredSeq !== null))
  const late = held()
  const copies = late.filter(({ method, status }) => method === 'POST' && status === 201)
  counts.lateCreates += copies.length
  counts.lateRefusals += late.filter(({ method, status }) => method === 'POST' && status !== 201).length
  counts.lateDeletions += late.filter(({ method }) => method === 'DELETE').length

  const mark = world.mark()
  const work = leader.kube.intercept((request) => {
    return isWork(request) ? { type: 'drop', when: 'before' } : undefined
  })
  leader.operator.signal('SIGCONT')
  expect(await leader.operator.exited()).toBe(1)
  counts.written += work.requests.length + world.writes(mark).length

  // What it made is found by the next resync of its successor.
  const paths = copies.map(({ path, responseId }) => `${path}/${responseId}`)
  const left = async () => {
    const answers = await Promise.all(paths.map((path) => world.api.get(path)))
    return answers.filter(({ status }) => status === 200).length
  }
  const there = await left()
  counts.copies += there
  await world.resync()
  await until('the copies are gone', async () => (await left()) === 0, { timeoutMs: 60_000 })
  counts.removed += world.writes(mark).filter(({ method, path, status }) => {
    return method === 'DELETE' && status === 204 && paths.includes(path)
  }).length
}

/** The collection of the subject's object. */
function pathOf({ kind, spec }: Manifest): string {
  const descriptor = managed.find(({ definition }) => definition.kind === kind)
  if (descriptor === undefined) throw new Error(`there is no kind ${kind}`)
  return `/${descriptor.identity.collectionOf(spec).path}`
}
