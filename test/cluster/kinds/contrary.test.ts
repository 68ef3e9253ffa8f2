import { expect, test } from 'vitest'
import { systemRandom } from '../../../src/util/random.ts'
import { mixOf } from '../../faults/simulation/world.ts'
import { specsOf } from '../../kinds/lookup.ts'
import { subjects } from '../support/as-written.ts'
import { applyAll, applyNeeds, managed, withText } from '../support/cases.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'

/** Draws the server's choices; printed, so that a mix that failed can be repeated. */
const seed = process.env.CULVERT_TEST_CONTRARY ?? systemRandom.hex(4)
console.log(`contrary choices drawn by CULVERT_TEST_CONTRARY=${seed}`)

const cases = managed.flatMap(({ definition }) => specsOf(definition.kind))

const own: ReadonlySet<string> = new Set(
  managed.flatMap(({ identity }) => identity.collections.map(({ path }) => path)),
)
/** Collections that the kinds have in common with the parts of other kinds. */
const shared = managed.flatMap(({ children }) => (children === undefined ? [] : [children.collection.path]))

/** What the service stores in the collections of the kinds, whatever its answers show. */
type Stored = ReadonlyMap<string, ReadonlyMap<string, Readonly<Record<string, unknown>>>>

function storedIn(world: World): Stored {
  const found = new Map<string, Map<string, Readonly<Record<string, unknown>>>>()
  for (const { objects } of Object.values(world.emulator.admin.snapshot().accounts)) {
    for (const [path, list] of Object.entries(objects).filter(([path]) => own.has(path))) {
      const known = found.get(path) ?? new Map()
      for (const object of list) known.set(String(object.id), object)
      found.set(path, known)
    }
  }
  return found
}

function idsIn(stored: Stored): readonly string[] {
  return [...stored].flatMap(([path, objects]) => [...objects.keys()].map((id) => `${path} ${id}`)).toSorted()
}

/** Versions of all resources. */
async function versions(world: World): Promise<readonly string[]> {
  const lists = await Promise.all(managed.map(({ definition }) => world.list(definition.kind)))
  return lists.flat().map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
}

/** Two resyncs write nothing on either side. */
async function expectSilence(world: World): Promise<void> {
  const [mark, before] = [world.mark(), await versions(world)]
  await world.resync()
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  expect(await versions(world)).toEqual(before)
}

test('every spec of every kind lives at a server that makes other choices: made once, edited, repaired, deleted', {
  timeout: 400_000,
  tags: 'nightly',
}, async () => {
  await using world = await World.open({ emulator: { choices: mixOf(seed) } })
  await applyNeeds(world, cases, ['contrary'])
  const before = idsIn(storedIn(world))
  const all = subjects(cases, 'contrary')
  const allReady = () => Promise.all(all.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  await applyAll(world, all)
  const made = await allReady()
  const added = idsIn(storedIn(world)).filter((each) => !before.includes(each))
  const named = made.map(({ status }, index) => `${all[index]?.path} ${status?.id}`)
  const isPart = (each: string): boolean => shared.some((path) => each.startsWith(`${path} `)) && !named.includes(each)
  expect(added.filter((each) => !isPart(each))).toEqual(named.toSorted())
  await expectSilence(world)

  await applyAll(
    world,
    all.map((manifest) => ({ ...manifest, spec: withText(manifest, `${manifest.name}, edited`) })),
  )
  const edited = await allReady()
  expect(edited.map(({ status }) => status?.id)).toEqual(made.map(({ status }) => status?.id))
  await expectSilence(world)

  const described = all.flatMap(({ kind, name, path }, index) => {
    const isMarked = managed.some(({ definition, identity }) => {
      return definition.kind === kind && identity.markedBy === 'metadata'
    })
    return isMarked ? [{ name, path, id: String(made[index]?.status?.id) }] : []
  })
  const description = ({ path, id }: (typeof described)[number]) => storedIn(world).get(path)?.get(id)?.description
  for (const { path, id } of described) {
    expect((await world.api.patch(`/${path}/${id}`, { id, description: 'by hand' })).status).toBeLessThan(300)
  }
  await world.resync()
  for (const each of described) {
    await until(`${each.name} is repaired`, () => description(each) === `${each.name}, edited`)
  }
  await allReady()
  await expectSilence(world)

  for (const { kind, name } of all) await world.delete(kind, name)
  await Promise.all(all.map(({ kind, name }) => world.gone(kind, name, 120_000)))
  expect(idsIn(storedIn(world))).toEqual(before)
})
