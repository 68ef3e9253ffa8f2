import { expect, test } from 'vitest'
import { SEED } from '../builders/specs.ts'
import { applyAll, applyNeeds, casesTitled, managed, subjectsOf } from './support/cases.ts'
import { until } from './support/wait.ts'
import { core, typeOf, World } from './support/world.ts'

const PER_MINUTE = 120
const BURST = 10
const SUFFIXES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
const namespaceType = core('namespaces', 'Namespace', false)

async function resources(world: World): Promise<number> {
  const lists = await Promise.all(managed.map(({ definition }) => world.list(definition.kind)))
  return lists.flat().length
}

/** What the account holds for resources, the seeded objects and the world's own key aside. */
async function objects(world: World): Promise<readonly string[]> {
  const seeded = new Set<unknown>([
    world.journal()[0]?.keyId,
    ...Object.values(SEED.objects ?? {}).flatMap((each) => each.map(({ id }) => id)),
  ])
  const collections = managed.flatMap((each) => [...each.collections, each.children?.collection])
  const paths = new Set(collections.flatMap((collection) => (collection === undefined ? [] : [collection.path])))
  const found = await Promise.all([...paths].map((path) => world.remote(path)))
  return found.flat().flatMap(({ id }) => (seeded.has(id) ? [] : [String(id)]))
}

test('a namespace with 200 resources of all kinds ends empty on both sides, in the time that the budget implies', {
  timeout: 900_000,
}, async () => {
  await using world = await World.open({ rights: 'cluster' })
  const cases = casesTitled('minimal')
  await applyNeeds(world, cases, SUFFIXES)
  const subjects = SUFFIXES.flatMap((suffix) => subjectsOf(cases, suffix))
  await applyAll(world, subjects)
  await Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  expect(await resources(world)).toBeGreaterThanOrEqual(200)
  expect((await objects(world)).length).toBeGreaterThanOrEqual(200)

  await world.operator.stop()
  const rateLimit = { requestsPerMinute: PER_MINUTE, burst: BURST }
  const key = { namespace: world.namespace, name: 'default' }
  await world.kube.mergePatch(typeOf('Account'), key, { spec: { rateLimit } })
  await world.startOperator()
  const mark = world.mark()
  const begun = performance.now()
  await world.kube.delete(namespaceType, { name: world.namespace })
  const describe = async () => ({ left: await resources(world) })
  await until(
    'the namespace is gone',
    async () => (await world.kube.get(namespaceType, { name: world.namespace })) === undefined,
    { timeoutMs: 600_000, describe },
  )
  const seconds = (performance.now() - begun) / 1000
  const requests = world.journal(mark).length
  expect(await objects(world)).toEqual([])
  const implied = ((requests - BURST) * 60) / PER_MINUTE
  // The namespace itself takes Kubernetes some seconds, before and after.
  expect(seconds).toBeLessThan(1.25 * implied + 30)
})
