import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../controlplane/control-plane.ts'
import { rootSchema } from '../../scripts/crds/crd.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { CommonStatus, Fields } from '../../src/managed/descriptor/common.ts'
import { compileNode } from '../../src/schema/validator.ts'
import { type Case, CaseList } from '../faults/support/case-list.ts'
import { IS_WHOLE } from '../faults/support/size.ts'
import { isAtRest } from '../releases/recording.ts'
import { type RecordedObject, type RecordedScene, Release } from '../releases/release.ts'
import { Takeover } from '../releases/takeover.ts'
import { managed } from './support/cases.ts'
import { hasToken, openedBy, tokenOf } from './support/tokens.ts'
import { until } from './support/wait.ts'
import { conditionOf, type Resource } from './support/world.ts'

const releases = await Release.all()

/** Its CRDs change, and its store is written to past the apiserver. */
let cluster: ControlPlane
beforeAll(async () => {
  cluster = await startControlPlane()
})
afterAll(() => cluster.stop())

/** The scene of a release that `npm test` plays, which plays all of a sample; the matrix plays all of both. */
const ALWAYS = 'at-rest'

function scenesOf({ index, isWhole }: Release): readonly RecordedScene[] {
  return index.scenes.filter(({ name }) => IS_WHOLE || !isWhole || name === ALWAYS)
}

/** Every recorded resource of every scene: none that was recorded may be left out. */
const list = new CaseList('upgraded midway', 'real', {
  least: releases.flatMap(scenesOf).flatMap(({ objects }) => objects).length,
})

function caseOf({ index }: Release, { file, state }: RecordedObject): Case {
  return { write: file, point: state, fault: `upgraded from ${index.version}` }
}

/** Stages of its life in which each managed kind was recorded. */
const EVERY_LIFE = ['at-rest', 'unresolved-lost', 'unresolved-made', 'refused', 'deleting-begun']

test('every kind was recorded in the middle of each stage of its life', () => {
  for (const { index, isWhole } of releases) {
    for (const scene of index.scenes.filter(({ name }) => EVERY_LIFE.includes(name))) {
      const kinds = scene.objects.map(({ kind }) => kind)
      expect(kinds, scene.name).toEqual(expect.arrayContaining(managed.map(({ definition }) => definition.kind)))
    }
    if (isWhole) expect(index.scenes.map(({ name }) => name)).toEqual(expect.arrayContaining(EVERY_LIFE))
  }
})

/** Nothing is to be done about it at the API. */
function isResting({ state, phase, after }: RecordedObject): boolean {
  return state === 'Ready' || (phase === 'Current' && after === 'same')
}

/**
 * Ids of the objects that the status of a CR tells of: its own, those of its parts, and of those that it is to give way
 * to.
 */
function idsIn({ kind, status }: Resource): readonly string[] {
  if (status === undefined) return []
  const descriptor = managed.find(({ definition }) => definition.kind === kind)
  const children = descriptor?.children?.idsIn(status as unknown as CommonStatus & Fields) ?? []
  const superseded = status.internal?.superseded ?? []
  return [...(status.id === undefined ? [] : [status.id]), ...children, ...superseded.map(({ id }) => id)]
}

/** Messages are for people, and may be put better by another version. */
function said(cr: Resource | undefined): unknown {
  return cr?.status?.conditions?.map(({ type, status, reason }) => ({ type, status, reason }))
}

/** Waits until the object is what its state calls for. */
async function arrives(takeover: Takeover, recorded: RecordedObject): Promise<void> {
  const { kind, name, after } = recorded
  const before = takeover.recorded(recorded)
  const look = async (): Promise<boolean> => {
    const cr = await takeover.now(recorded)
    if (after === 'Gone' || cr === undefined) return after === 'Gone' && cr === undefined
    if (after === 'Current') return isAtRest(cr) && cr.status?.internal?.superseded === undefined
    if (after === 'Failed') return conditionOf(cr, 'Failed')?.status === 'True'
    return JSON.stringify(said(cr)) === JSON.stringify(said(before))
  }
  const describe = async () => ({
    before: before.status,
    now: await takeover.now(recorded),
    log: takeover.world.operator.log.split('\n').slice(-20),
  })
  await until(`${kind}/${name}, recorded as ${recorded.state}, is ${after}`, look, { timeoutMs: 120_000, describe })
}

/** Every object has been looked at: what has not changed was left as it is. */
async function lookedAt({ scene, world }: Takeover): Promise<void> {
  for (const [kind, objects] of Map.groupBy(scene.objects, ({ kind }) => kind)) {
    const looks = () => world.operator.metric('controller_runtime_reconcile_total', `controller="${kind}"`)
    await until(`each ${kind} was looked at`, async () => (await looks()) >= objects.length, { timeoutMs: 60_000 })
  }
  const account = await world.get('Account', 'default')
  if (conditionOf(account, 'Ready')?.status === 'True') await world.resync()
}

/** Ids in the account, of every collection that resources stand for. */
async function held({ world }: Takeover): Promise<ReadonlyMap<string, Record<string, unknown>>> {
  const collections = managed.flatMap(({ identity: { collections }, children }) => [
    ...collections,
    ...(children === undefined ? [] : [children.collection]),
  ])
  const paths = new Set(collections.map(({ path }) => path))
  const objects = (await Promise.all([...paths].map((path) => world.remote(path)))).flat()
  return new Map(objects.map((object) => [String(object.id), object]))
}

/**
 * Scenes that may exist side by side: those of one namespace each, in a cluster with the same CRDs of other projects.
 */
function groupsOf(scenes: readonly RecordedScene[]): readonly (readonly RecordedScene[])[] {
  return [
    ...Map.groupBy(scenes, ({ name, watch, crds }) => (watch === 'cluster' ? name : `with ${crds.join()}`)).values(),
  ]
}

for (const [release, scenes] of releases.flatMap((each) => {
  return groupsOf(scenesOf(each)).map((group) => [each, group] as const)
})) {
  describe(`the state that version ${release.index.version} left is taken over`, { timeout: 400_000 }, () => {
    let prepared: readonly Takeover[] = []
    beforeAll(async () => {
      prepared = await Takeover.prepare(cluster, release, scenes)
    })
    afterAll(() => Promise.all(prepared.map((takeover) => takeover[Symbol.asyncDispose]())))

    for (const [index, scene] of scenes.entries()) {
      test.concurrent(`${scene.name}: ${scene.about}`, async () => {
        const told = scene.objects.map((recorded) => caseOf(release, recorded))
        try {
          await expectTakenOver(prepared[index] as Takeover)
        } catch (error) {
          for (const each of told) list.failed(each, String(error))
          throw error
        }
        for (const each of told) list.passed(each)
      })
    }
  })
}

test('every recorded resource was taken over', () => list.end())

/** An operator of this version continues from what the scene has left. */
async function expectTakenOver(takeover: Takeover): Promise<void> {
  const { world, scene } = takeover
  for (const recorded of scene.objects) {
    const { spec, status, metadata } = takeover.recorded(recorded)
    const cr = await takeover.now(recorded)
    expect({ spec: cr?.spec, status: cr?.status, uid: cr?.metadata.uid }, recorded.file).toEqual({
      spec,
      status,
      uid: metadata.uid,
    })
  }
  const before = await held(takeover)

  keepFailing(takeover)
  const mark = world.mark()
  await world.startOperator()
  await Promise.all(scene.objects.map((recorded) => arrives(takeover, recorded)))
  await lookedAt(takeover)
  for (const recorded of scene.objects) await arrives(takeover, recorded)

  const uids = new Set(takeover.objects.map(({ metadata }) => metadata.uid))
  expectUntouched(takeover, mark)
  await expectNoStrangers(takeover, before, uids)
  await expectTokens(takeover)
  await expectValid(takeover)
  expect(world.operator.log.split('\n').filter((line) => line.startsWith('{"level":50'))).toEqual([])
}

/** What could not be issued still cannot be: on a busy machine the API tries it again before anybody has looked. */
function keepFailing(takeover: Takeover): void {
  for (const recorded of takeover.scene.objects.filter(({ after }) => after === 'same')) {
    const { spec, status } = takeover.recorded(recorded)
    const { errorCode } = (status?.provisioningJob ?? {}) as {
      readonly errorCode?: 'INTERNAL_ERROR' | 'DNS_ERROR' | null
    }
    if (errorCode === undefined || errorCode === null) continue
    takeover.world.emulator.admin.addFault({ type: 'certificate', domain: String(spec.domain), errorCode, times: 1000 })
  }
}

/** Nothing was written about objects at rest, nor any command sent again. */
function expectUntouched(takeover: Takeover, mark: number): void {
  // What is refused as before changes nothing: a new process asks once more.
  const effective = takeover.world.writes(mark).filter(({ status }) => status === null || status < 400)
  const writes = effective.map(({ method, path, body }) => ({ method, path, body: JSON.stringify(body) }))
  const isStill = (recorded: RecordedObject): boolean => recorded.after === 'same' || isResting(recorded)
  // The rule of a policy may be a resource of its own.
  const moving = new Set(
    takeover.scene.objects.filter((each) => !isStill(each)).flatMap((each) => idsIn(takeover.recorded(each))),
  )
  for (const recorded of takeover.scene.objects.filter(isStill)) {
    const cr = takeover.recorded(recorded)
    for (const id of idsIn(cr).filter((each) => !moving.has(each)))
      expect(
        writes.filter(({ path }) => path.endsWith(`/${id}`)),
        recorded.file,
      ).toEqual([])
    expect(
      writes.filter(({ body }) => body?.includes(cr.metadata.uid)),
      recorded.file,
    ).toEqual([])
  }
  expect(writes.filter(({ path }) => path.startsWith('/tunnel_sessions'))).toEqual([])
}

/** The account holds what the resources name, and nothing else but what was there before and is nobody's. */
async function expectNoStrangers(
  takeover: Takeover,
  before: ReadonlyMap<string, Record<string, unknown>>,
  uids: ReadonlySet<string>,
): Promise<void> {
  const named = new Set(takeover.objects.flatMap((object) => idsIn(object as Resource)))
  const isOurs = (object: Record<string, unknown>): boolean => {
    const text = `${object.metadata ?? ''} ${object.name ?? ''}`
    return named.has(String(object.id)) || [...uids].some((uid) => text.includes(uid))
  }
  const others = new Set([...before.values()].filter((object) => !isOurs(object)).map(({ id }) => String(id)))
  const after = await held(takeover)
  const crs = (await Promise.all(managed.map(({ definition }) => takeover.list(definition.kind)))).flat()
  const known = new Set(crs.flatMap(idsIn))
  expect([...after.keys()].filter((id) => !known.has(id) && !others.has(id))).toEqual([])
  expect([...others].filter((id) => !after.has(id))).toEqual([])
  const lost = crs.filter(({ status }) => status?.id !== undefined && !after.has(status.id))
  const told = lost.filter((cr) => !/RemoteMissing|IdentityUnproven|AccountNotReady/.test(JSON.stringify(said(cr))))
  expect(told.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([])
}

/** Tokens of resources at rest are the same as before, and every token opens the object that its resource names. */
async function expectTokens(takeover: Takeover): Promise<void> {
  const { world, scene, surroundings } = takeover
  const resting = new Set(scene.objects.filter(isResting).map((each) => takeover.recorded(each).metadata.uid))
  for (const secret of surroundings.filter(({ kind }) => kind === 'Secret')) {
    const owners = secret.metadata.ownerReferences?.map(({ uid }) => uid) ?? []
    if (!owners.some((uid) => resting.has(uid))) continue
    expect((await takeover.secretLike(secret))?.data, secret.metadata.name).toEqual(secret.data)
  }
  for (const { definition } of managed.filter(hasToken)) {
    for (const cr of await world.list(definition.kind)) {
      if (!isAtRest(cr) || cr.status?.output === undefined) continue
      const opened = await openedBy(world, definition.kind, await tokenOf(world, cr))
      expect(opened, `${definition.kind}/${cr.metadata.name}`).toBe(cr.status.id)
    }
  }
}

/** Each resource is valid by the CRD of this version. */
async function expectValid(takeover: Takeover): Promise<void> {
  for (const { definition } of kinds) {
    const schema = rootSchema(definition).properties?.status
    if (schema === undefined) continue
    const validator = compileNode(schema)
    for (const { metadata, status } of await takeover.list(definition.kind)) {
      if (status === undefined) continue
      expect(validator.validate(status), `${definition.kind}/${metadata.name}`).toMatchObject({ ok: true })
    }
  }
}
