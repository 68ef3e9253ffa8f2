import { expect, inject, test } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import {
  applyAll,
  applyNeeds,
  casesTitled,
  expectExactlyOneEach,
  managed,
  subjectsOf,
  withText,
} from '../support/cases.ts'
import { hasToken } from '../support/tokens.ts'
import { until } from '../support/wait.ts'
import { type Resource, World } from '../support/world.ts'
import { LeaseLog } from './lease-log.ts'
import { byCreate, markIn } from './owners.ts'
import { report, seconds } from './report.ts'

/** As users have them by default. */
const [LEASE_MS, RETRY_MS] = [15_000, 2_000]
const TIMES = ['--lease-duration', '15s', '--renew-deadline', '10s', '--retry-period', '2s', '--request-timeout', '4s']
const CREATED = ['c1', 'c2', 'c3', 'c4']
const WITH_TOKENS = new Set(managed.filter(hasToken).map(({ definition }) => definition.kind))

test('a leader killed under load is replaced within the Lease duration, and nothing is done twice', {
  timeout: 600_000,
  tags: 'nightly',
}, async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ leaderElect: true, flags: TIMES, operator: false })
  const leader = await world.startOperator()
  const cases = casesTitled('minimal')
  const [edited, gone] = [subjectsOf(cases, 'edited'), subjectsOf(cases, 'gone')]
  const created = CREATED.flatMap((suffix) => subjectsOf(cases, suffix))
  await applyNeeds(world, cases, [...CREATED, 'edited', 'gone'])
  await applyAll(world, [...edited, ...gone])
  for (const { kind, name } of [...edited, ...gone]) await world.ready(kind, name, 60_000)
  const standby = await world.startStandby(['--kubeconfig', proxy.kubeconfigPath])

  // Some of what is under way has taken effect without an answer, some will only after the death of its sender.
  const before = world.mark()
  const { admin } = world.emulator
  const hang = { type: 'hang', when: 'after' } as const
  const late = { type: 'hang', when: 'before', outlives: true } as const
  const caught = [
    { match: { method: 'POST', nth: 8, times: 2 }, act: hang },
    { match: { method: 'POST', nth: 10, times: 2 }, act: late },
    { match: { method: 'PATCH', nth: 2, times: 1 }, act: hang },
    { match: { method: 'DELETE', nth: 2, times: 1 }, act: hang },
    { match: { method: 'DELETE', nth: 3, times: 1 }, act: late },
  ].map((fault) => ({ id: admin.addFault(fault).id, times: fault.match.times }))
  await using log = await LeaseLog.open(world)
  let looks = 0
  proxy.intercept(({ method, path, query }) => {
    if (method === 'GET' && path.includes('/leases/') && !query.has('watch')) looks++
    return undefined
  })
  const asked = Promise.all([
    ...edited.map((subject) => world.apply(subject.kind, subject.name, withText(subject, 'edited under load'))),
    ...gone.map(({ kind, name }) => world.delete(kind, name)),
    applyAll(world, created),
  ])
  const allHang = () => caught.every(({ id, times }) => admin.fault(id).hits === times)
  // The leader dies while it is still being asked.
  await until('some of everything hangs', allHang, { timeoutMs: 60_000 })
  const open = world.journal(before).filter(({ answeredSeq }) => answeredSeq === null)
  looks = 0
  await leader.kill()
  const killedAt = Date.now()
  const deathSeq = world.mark()
  await asked
  const old = log.last
  for (const { id } of caught) admin.releaseFault(id)
  const taken = await log.next('is taken over', old, ({ holder }) => holder !== old.holder)
  const looksUntilTaken = looks
  await standby.reconciling()

  await Promise.all(gone.map(({ kind, name }) => world.gone(kind, name, 120_000)))
  for (const { kind, name } of [...created, ...edited]) await world.ready(kind, name, 120_000)
  await expectExactlyOneEach(world, 1)

  // The Lease was taken after its time, and not before.
  const gap = taken.renewed - old.renewed
  expect(gap).toBeGreaterThanOrEqual(LEASE_MS)
  expect(taken.transitions).toBe(old.transitions + 1)
  // Counted in looks, since a busy machine has fewer of them and never more: one when it saw the last renewal, those
  // within the Lease's time, and the one that found it over.
  expect(looksUntilTaken).toBeLessThanOrEqual(Math.floor(LEASE_MS / (0.9 * RETRY_MS)) + 2)
  const writes = world.writes(before)
  const [last, first] = [
    writes.filter(({ seq }) => seq <= deathSeq).at(-1),
    writes.find(({ time }) => Date.parse(time) >= taken.acquired),
  ]
  const between = writes.filter(({ seq, time }) => seq > deathSeq && Date.parse(time) < taken.acquired)
  expect(between).toEqual([])

  // Every create was sent for one resource; two were made for one of them only where a token was lost with its answer.
  const posts = writes.filter(({ method }) => method === 'POST')
  const crs = new Map<string, Resource>()
  for (const { definition } of managed) for (const cr of await world.list(definition.kind)) crs.set(cr.metadata.uid, cr)
  const strangers = posts.filter((post) => !crs.has(markIn(post)?.uid ?? ''))
  expect(strangers).toEqual([])
  const made = byCreate(posts.filter(({ status }) => status === 201))
  const twice = [...made].filter(([, entries]) => entries.length > 1)
  const kindOf = (uid: string | undefined) => crs.get(uid ?? '')?.kind ?? ''
  for (const [uid, entries] of twice) {
    expect(WITH_TOKENS.has(kindOf(uid.split(' ')[0])), `${entries.length} creates for ${uid}`).toBe(true)
  }
  report(`leader killed under load; Lease ${LEASE_MS / 1000} s, retry period ${RETRY_MS / 1000} s`, {
    'kinds; creates, edits and deletions asked for': `${cases.length}; ${created.length}, ${edited.length}, ${gone.length}`,
    'creates sent before the kill, after it': [
      posts.filter(({ seq }) => seq <= deathSeq).length,
      posts.filter(({ seq }) => seq > deathSeq).length,
    ].join(', '),
    'requests open at the kill': open
      .map(({ method }) => method)
      .toSorted()
      .join(' '),
    'last renewal to take-over': seconds([gap]),
    'kill to take-over': seconds([taken.renewed - killedAt]),
    'last write of the old to first write of the new': seconds([
      Date.parse(first?.time ?? '') - Date.parse(last?.time ?? ''),
    ]),
    'writes between': between.length,
    'creates that belong to no resource, or to two': strangers.length,
    'creates that had to be recreated, their token lost': twice.length,
    'looks of the other at the Lease': looksUntilTaken,
  })
})
