import { describe, expect, test } from 'vitest'
import { secretType } from '../../../../src/kube/core-types.ts'
import { OUTPUT_OF } from '../../../../src/managed/names.ts'
import { tokenPlaceIn } from '../../../builders/output-of-spec.ts'
import type { Fault, Trouble } from '../../simulation/faults.ts'
import { changeOutputs, FOREIGN, outputChanges, outputsOf } from '../../simulation/outputs-by-hand.ts'
import { begin, countOf, idsIn, loseStatus, ready, recreate, reported, type Scene } from '../../simulation/scenario.ts'
import { either, faults, nextWrites, onWrite } from '../../simulation/shaped-answers.ts'
import { isWrite, NAMESPACE } from '../../simulation/world.ts'
import { befalls } from '../../simulation/writes.ts'
import { PATHS } from './rotation-watch.ts'

type Kind = keyof typeof PATHS
const tokenKinds = Object.keys(PATHS) as Kind[]

/** When the next step of a story comes: within a request, between two, and after all of them. Milliseconds. */
const PAUSES = [0, 1, 3, 5, 9, 14, 25, 60] as const
const ELSEWHERE = { output: { secret: { name: 'elsewhere' } } }
/** A write to Kubernetes takes effect without an answer. */
const UNANSWERED: Fault = { type: 'reset', when: 'after' }
const UNSENT: Fault = { type: 'reset', when: 'before' }

/** Writes of the resource or a Secret to Kubernetes meet these faults, one each. */
function nextInKubernetes(...next: readonly Fault[]): Trouble {
  return befalls(
    next.map((fault, at) => ({ at, fault })),
    (sighting) => sighting.server === 'kubernetes' && isWrite(sighting),
  )
}

/**
 * At rest there is one object, and its token is where the spec says and nowhere else; then there is silence.
 * @param meddled whether the Secret may have been removed just before the object was made
 */
async function expectOne({ world, oracle }: Scene, kind: Kind, meddled = false): Promise<void> {
  world.calm()
  expect(await oracle.untilRest()).toEqual([])
  await world.advance(120_000)
  world.kube.collectGarbage(secretType)
  const problems = await oracle.judge()
  expect(problems.filter((each) => !(meddled && each.startsWith('POST without a Secret')))).toEqual([])
  const cr = world.get(kind, 'ci')
  const place = tokenPlaceIn(cr?.spec ?? {}, 'ci')
  // A Secret whose annotation was removed is no longer recognised; it goes with its owner.
  const noted = outputsOf(world, cr).filter(({ metadata }) => metadata.annotations?.[OUTPUT_OF] !== undefined)
  const keys = noted.map(({ metadata, data = {} }) => [
    metadata.name,
    ...Object.keys(data).filter((key) => !(key in FOREIGN)),
  ])
  expect(keys).toEqual([[place.name, place.key]])
  expect(await idsIn(world, PATHS[kind])).toEqual([cr?.status?.id])
}

describe.each(tokenKinds)('the token of the kind %s', (kind) => {
  test.each(outputChanges)(
    'is in its Secret in the end, and nowhere else, whenever somebody changes the Secret: %s',
    async (how) => {
      for (const at of [1, 2, 3, 4]) {
        const scene = await begin([kind])
        const { world } = scene
        let writes = 0
        world.trouble = {
          request: (sighting) => {
            if (isWrite(sighting) && writes++ === at) changeOutputs(world, world.get(kind, 'ci'), how)
            return undefined
          },
        }
        world.apply(kind, 'ci', {})
        await ready(world, kind, 'ci')
        // At the fourth: at rest.
        if (writes <= at) changeOutputs(world, world.get(kind, 'ci'), how)
        await expectOne(scene, kind, true)
      }
    },
  )

  test('is not put into a Secret of somebody else, which stays as it is', async () => {
    const { world } = await begin([kind])
    const key = { namespace: NAMESPACE, name: 'elsewhere' }
    world.server.create(secretType, key, { data: FOREIGN, type: 'Opaque' })
    const before = world.kube.get(secretType, key)
    world.apply(kind, 'ci', {})
    await ready(world, kind, 'ci')
    world.apply(kind, 'ci', ELSEWHERE)
    await reported(world, () => world.get(kind, 'ci'), 'Synced', 'OutputNotOwned')
    await world.advance(120_000)
    expect(world.kube.get(secretType, key)).toEqual(before)
    world.kube.delete(secretType, key)
    await ready(world, kind, 'ci')
    expect(await idsIn(world, PATHS[kind])).toEqual([world.get(kind, 'ci')?.status?.id])
  })

  test('is not asked for again and again, for the Secret reserved for it, while creates are refused', async () => {
    const { world, writes } = await begin([kind])
    world.trouble = onWrite(() => faults.refused)
    world.apply(kind, 'ci', {})
    await world.advance(60_000)
    // Once more for the new Secret, then slowly.
    expect(countOf(writes, `api POST /${PATHS[kind]}`)).toBeLessThanOrEqual(2)
  })

  test('leaves no Secret behind that was reserved under a former name of the spec', async () => {
    for (const ms of PAUSES) {
      const scene = await begin([kind])
      const { world } = scene
      world.trouble = nextWrites(faults.lost, faults.lost)
      world.apply(kind, 'ci', {})
      await world.advance(ms)
      world.apply(kind, 'ci', ELSEWHERE)
      await world.advance(10_000)
      await expectOne(scene, kind)
    }
  })

  test('of an object that was recovered, and not stored yet, is reissued when the process dies meanwhile', async () => {
    for (const ms of PAUSES) {
      const scene = await begin([kind])
      const { world } = scene
      world.apply(kind, 'ci', {})
      await ready(world, kind, 'ci')
      world.down()
      recreate(world, kind, 'ci')
      world.kube.collectGarbage(secretType)
      world.up()
      await world.until(() => world.get(kind, 'ci')?.status?.conditions !== undefined, 60_000)
      await world.advance(ms)
      world.down()
      await world.advance(2_000)
      world.up()
      await expectOne(scene, kind)
    }
  })

  test('is under one key only when a write that moved it to another key got no answer', async () => {
    for (const ms of PAUSES) {
      const scene = await begin([kind])
      const { world } = scene
      world.apply(kind, 'ci', { output: { secret: { key: 'key' } } })
      await ready(world, kind, 'ci')
      world.apply(kind, 'ci', {})
      world.trouble = nextInKubernetes(UNANSWERED)
      await world.advance(ms)
      changeOutputs(world, world.get(kind, 'ci'), 'strip')
      await expectOne(scene, kind)
    }
  })

  test('comes back to a Secret of the spec into which somebody has put something', async () => {
    for (const ms of PAUSES) {
      const scene = await begin([kind])
      const { world } = scene
      world.apply(kind, 'ci', {})
      await world.advance(ms)
      world.apply(kind, 'ci', ELSEWHERE)
      changeOutputs(world, world.get(kind, 'ci'), 'add')
      world.trouble = either(nextWrites(faults.lost), nextInKubernetes(UNANSWERED))
      await world.advance(25)
      world.apply(kind, 'ci', {})
      await world.advance(10_000)
      await expectOne(scene, kind)
    }
  })

  test('that was altered while the status was lost is not trusted', async () => {
    for (const ms of PAUSES) {
      const scene = await begin([kind])
      const { world } = scene
      world.apply(kind, 'ci', {})
      world.trouble = nextInKubernetes(UNANSWERED, UNSENT)
      await world.advance(600)
      world.down()
      await world.advance(10_000)
      loseStatus(world, kind, 'ci')
      world.up()
      await world.advance(ms)
      changeOutputs(world, world.get(kind, 'ci'), 'alter')
      await expectOne(scene, kind, true)
    }
  })
})
