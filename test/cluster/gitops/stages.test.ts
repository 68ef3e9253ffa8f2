import { beforeAll, describe, expect, test } from 'vitest'
import { isCommon } from '../../../src/managed/run/conditions.ts'
import { ARGO_FOR, Judge, type Kstatus } from '../../gitops/judge.ts'
import { applyAll, applyNeeds, casesTitled, subjectsOf, withText } from '../support/cases.ts'
import { type Resource, World } from '../support/world.ts'
import { Versions } from './versions.ts'

let judge: Judge

beforeAll(async () => {
  judge = await Judge.open()
}, 900_000)

/** Both tools see each of the objects as `status`, by name. */
async function expectSeen(objects: readonly (Resource | undefined)[], status: Kstatus): Promise<void> {
  const present = objects.filter((object) => object !== undefined)
  expect(present).toHaveLength(objects.length)
  const verdicts = await judge.judge(present)
  const seen = present.map(({ kind, metadata }, index) => {
    const { kstatus, argo } = verdicts[index] ?? {}
    return [`${kind}/${metadata.name}`, kstatus?.status, argo?.status]
  })
  expect(seen).toEqual(present.map(({ kind, metadata }) => [`${kind}/${metadata.name}`, status, ARGO_FOR[status]]))
}

/** The statuses of what a resource says of itself in the conditions that all kinds have. */
function commonConditions(resource: Resource | undefined): Readonly<Record<string, string>> {
  const shared = (resource?.status?.conditions ?? []).filter(({ type }) => isCommon(type))
  return Object.fromEntries(shared.map(({ type, status }) => [type, status]))
}

test('kstatus and Argo CD follow every kind through its whole life', { timeout: 300_000 }, async () => {
  await using world = await World.open()
  const cases = casesTitled('minimal')
  await applyNeeds(world, cases, ['life'])
  await world.operator.kill()
  await using versions = await Versions.of(world)
  const subjects = subjectsOf(cases, 'life')
  const all = () => Promise.all(subjects.map(({ kind, name }) => world.get(kind, name)))
  const allReady = () => Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 120_000)))

  await applyAll(world, subjects)
  await expectSeen(await all(), 'InProgress')
  await world.startOperator()
  await expectSeen(await allReady(), 'Current')

  await world.operator.kill()
  await applyAll(
    world,
    subjects.map((subject) => ({ ...subject, spec: withText(subject, 'edited') })),
  )
  await expectSeen(await all(), 'InProgress')
  await world.startOperator()
  await expectSeen(await allReady(), 'Current')

  await world.operator.kill()
  for (const { kind, name } of subjects) await world.delete(kind, name)
  await expectSeen(await all(), 'Terminating')
  await world.startOperator()
  await Promise.all(subjects.map(({ kind, name }) => world.gone(kind, name, 120_000)))

  // Whatever else was to be seen on the way: finished is only what has its object, for the spec as it stands.
  const passed = subjects.flatMap(({ name }) => versions.named(name))
  const verdicts = await judge.judge(passed)
  const current = passed.filter((_, index) => verdicts[index]?.kstatus.status === 'Current')
  expect(current.length).toBeGreaterThanOrEqual(2 * subjects.length)
  for (const { kind, metadata, status } of current) {
    expect(status?.id, `${kind}/${metadata.name}`).toBeDefined()
    expect(status?.observedGeneration, `${kind}/${metadata.name}`).toBe(metadata.generation)
  }
  expect(verdicts.map(({ argo }) => argo.status)).toEqual(verdicts.map(({ kstatus }) => ARGO_FOR[kstatus.status]))
})

describe('a resource that is not as it should be', () => {
  test('fails if a person must act, and is in progress if it may recover by itself', { tags: 'nightly' }, async () => {
    await using world = await World.open({ operator: false })
    const refuse = (path: string, status: number): void => {
      world.emulator.admin.addFault({ match: { method: 'POST', path, times: 100 }, act: { type: 'status', status } })
    }
    refuse('/ip_policies', 400)
    refuse('/reserved_addrs', 503)
    await world.startOperator()
    await world.apply('IPPolicy', 'refused', { allowEmpty: true })
    await world.apply('ReservedAddress', 'overloaded', {})
    await world.apply('IPRestriction', 'waiting', { type: 'Dashboard', ipPolicyRefs: [{ name: 'nobody' }] })
    await world.reason('IPPolicy', 'refused', 'Stalled', 'Rejected')
    await world.reason('ReservedAddress', 'overloaded', 'Reconciling', 'CreateUnresolved')
    await world.reason('IPRestriction', 'waiting', 'Reconciling', 'ReferenceNotReady')
    await expectSeen([await world.get('IPPolicy', 'refused')], 'Failed')
    await expectSeen([await world.get('ReservedAddress', 'overloaded')], 'InProgress')
    await expectSeen([await world.get('IPRestriction', 'waiting')], 'InProgress')
  })

  test('fails after a refused edit, although the former state keeps working', { tags: 'nightly' }, async () => {
    await using world = await World.open()
    const { admin } = world.emulator
    const policy = { rules: [{ cidr: '198.51.100.0/24', action: 'Allow' }] }
    await world.apply('IPPolicy', 'office', policy)
    await world.ready('IPPolicy', 'office')
    const match = { method: 'PATCH', path: '/ip_policies/**', every: true }
    admin.addFault({ match, act: { type: 'status', status: 400 } })
    await world.apply('IPPolicy', 'office', { ...policy, description: 'edited' })
    await world.reason('IPPolicy', 'office', 'Stalled', 'Rejected')
    const refused = await world.get('IPPolicy', 'office')
    expect(commonConditions(refused)).toEqual({ Ready: 'True', Synced: 'False', Stalled: 'True' })
    await expectSeen([refused], 'Failed')

    // An edit that can be made before the refused one is corrected: in progress, then finished.
    await world.apply('IPPolicy', 'office', policy)
    await world.ready('IPPolicy', 'office')
    const reverted = await world.get('IPPolicy', 'office')
    expect(commonConditions(reverted)).toEqual({ Ready: 'True', Synced: 'True' })
    await expectSeen([reverted], 'Current')
  })

  test('is in progress after an edit that waits or fails, although the former state keeps working', {
    tags: 'nightly',
  }, async () => {
    await using world = await World.open()
    await world.apply('IPPolicy', 'office', { rules: [{ cidr: '198.51.100.0/24', action: 'Allow' }] })
    const restriction = { type: 'Dashboard', ipPolicyRefs: [{ name: 'office' }] }
    await world.apply('IPRestriction', 'dashboard', restriction)
    await world.ready('IPRestriction', 'dashboard')
    await world.apply('IPRestriction', 'dashboard', { ...restriction, ipPolicyRefs: [{ name: 'nobody' }] })
    await world.reason('IPRestriction', 'dashboard', 'Reconciling', 'ReferenceNotReady')
    const waiting = await world.get('IPRestriction', 'dashboard')
    expect(commonConditions(waiting)).toEqual({ Ready: 'True', Synced: 'False', Reconciling: 'True' })
    await expectSeen([waiting], 'InProgress')
  })

  test('is suspended while paused, for Argo CD; kstatus has no such state', async () => {
    await using world = await World.open()
    await world.apply('ReservedAddress', 'one', {})
    await world.ready('ReservedAddress', 'one')
    await world.annotate('ReservedAddress', 'one', { 'culvert.dev/paused': 'true' })
    await world.reason('ReservedAddress', 'one', 'Synced', 'Paused')
    const [verdict] = await judge.judge([(await world.get('ReservedAddress', 'one')) ?? {}])
    expect([verdict?.kstatus.status, verdict?.argo.status]).toEqual(['Current', 'Suspended'])
  })

  test('accounts and commands are reported like everything else', { tags: 'nightly' }, async () => {
    await using world = await World.open({ account: { mirrorSessions: { enabled: true } } })
    const account = () => world.get('Account', 'default')
    await world.reason('Account', 'default', 'Ready', 'Available')
    await expectSeen([await account()], 'Current')
    await world.setKey('no-such-key')
    await world.reason('Account', 'default', 'Stalled', 'Unauthorized')
    await expectSeen([await account()], 'Failed')
    await world.apply('TunnelSessionCommand', 'nobody', { action: 'Stop', target: { type: 'ID', id: 'ts_none' } })
    await world.reason('TunnelSessionCommand', 'nobody', 'Reconciling', 'AccountNotReady')
    await expectSeen([await world.get('TunnelSessionCommand', 'nobody')], 'InProgress')
    await world.setKey(world.emulator.apiKey)
    await world.reason('TunnelSessionCommand', 'nobody', 'Failed', 'SomeNotDone')
    await expectSeen([await world.get('TunnelSessionCommand', 'nobody')], 'Failed')
    await world.reason('Account', 'default', 'Ready', 'Available')
    await expectSeen([await account()], 'Current')
  })
})
