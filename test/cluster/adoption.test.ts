import { expect, test } from 'vitest'
import type { Manifest } from '../kinds/kind-test-data.ts'
import { applyAll, applyNeeds, casesTitled, managed, subjectsOf, withText } from './support/cases.ts'
import { conditionOf, typeOf, World } from './support/world.ts'

/** One object of each kind, as if made by hand: no resource holds it, and nothing in it tells of Culvert. */
async function accountMadeByHand(world: World) {
  const cases = casesTitled('full')
  await applyNeeds(world, cases, ['hand'])
  const manifests = subjectsOf(cases, 'hand')
  await applyAll(world, manifests)
  const crs = await Promise.all(manifests.map(({ kind, name }) => world.ready(kind, name, 60_000)))
  const ids = crs.map(({ status }) => String(status?.id))
  await world.operator.kill()
  for (const { kind, name } of manifests) {
    await world.kube.mergePatch(typeOf(kind), { namespace: world.namespace, name }, { metadata: { finalizers: null } })
    await world.delete(kind, name)
    await world.gone(kind, name)
  }
  await world.startOperator()
  return { manifests: manifests.map((manifest, index) => ({ ...manifest, id: ids[index] ?? '' })) }
}

type Handmade = Manifest & { readonly id: string }

async function snapshot(world: World): Promise<readonly unknown[]> {
  const paths = managed.flatMap(({ identity: { collections }, children }) => [
    ...collections.map(({ path }) => path),
    ...(children === undefined ? [] : [children.collection.path]),
  ])
  const objects = await Promise.all(
    [...new Set(paths)].map(async (path) => ({ path, objects: await world.remote(path) })),
  )
  // The progress of certificates continues by itself.
  return objects.map(({ path, objects: found }) => ({
    path,
    objects: found.map(({ certificate_management_status, certificate, ...rest }) => rest),
  }))
}

/** The fields that a condition says would be written. */
function told(message: string): readonly string[] {
  return /update ([a-z_, ]+?)(?:;|\. |, (?:create|update|delete) |$)/.exec(message)?.[1]?.split(', ') ?? []
}

test('in an account made by hand, each kind is shown before any write, adopted on request, and left unchanged', {
  timeout: 300_000,
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  const { manifests } = await accountMadeByHand(world)
  await world.resync()
  const before = await snapshot(world)
  const mark = world.mark()

  const said = new Map<string, ReadonlySet<string>>()
  const observed = async (manifest: Handmade): Promise<void> => {
    const { kind, name, id } = manifest
    await world.apply(kind, name, {
      ...withText(manifest, 'another text'),
      externalID: id,
      managementPolicy: 'Observe',
    })
    const { message } = await world.reason(kind, name, 'Synced', 'Observed')
    expect(message).toContain('only observed')
    const cr = await world.get(kind, name)
    expect(cr?.status?.id, kind).toBe(id)
    expect(cr?.metadata.finalizers ?? [], kind).toEqual([])
    said.set(id, new Set(told(message)))
  }
  await Promise.all(manifests.map(observed))
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  expect(await snapshot(world)).toEqual(before)

  const adopted = async (manifest: Handmade): Promise<void> => {
    const { kind, name, id } = manifest
    await world.apply(kind, name, {
      ...withText(manifest, 'another text'),
      externalID: id,
      managementPolicy: 'Manage',
    })
    const cr = await world.until(kind, name, 'is adopted and equal to its spec', (each) => {
      return conditionOf(each, 'Synced')?.status === 'True' && each.status?.adopted === true
    })
    expect(cr.status?.id, kind).toBe(id)
  }
  await Promise.all(manifests.map(adopted))
  const writes = world.writes(mark)
  const idIn = (path: string): string => path.split('/').at(-1) ?? ''
  // Rules that carry the marker of a former resource keep it, like their policy: nothing else is written.
  const own = writes.filter(({ path }) => said.has(idIn(path)))
  expect(own).toEqual(writes)
  expect(own.map(({ method }) => method)).toEqual(manifests.map(() => 'PATCH'))
  for (const { path, body } of own) {
    const id = idIn(path)
    const fields = Object.keys(body as object).filter((field) => field !== 'id')
    expect(new Set(fields), path).toEqual(said.get(id))
  }
  await world.resync()
  expect(world.writes(mark)).toHaveLength(writes.length)

  const after = await snapshot(world)
  const leaving = world.mark()
  await Promise.all(manifests.map(({ kind, name }) => world.delete(kind, name)))
  await Promise.all(manifests.map(({ kind, name }) => world.gone(kind, name, 60_000)))
  expect(world.writes(leaving)).toEqual([])
  expect(await snapshot(world)).toEqual(after)
})
