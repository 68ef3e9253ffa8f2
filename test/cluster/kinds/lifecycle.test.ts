import { expect, test } from 'vitest'
import { tokenPlaceIn } from '../../builders/output-of-spec.ts'
import { specsOf, specTitled } from '../../kinds/lookup.ts'
import { expectAsWritten, type Subject, subjects, surrounding } from '../support/as-written.ts'
import { applyAll, applyNeeds, managed } from '../support/cases.ts'
import { hasToken, openedBy, secretNamed, tokenOf } from '../support/tokens.ts'
import { core, type Resource, World } from '../support/world.ts'

const cases = managed.flatMap(({ definition }) => specsOf(definition.kind))

function descriptorOf(kind: string) {
  const found = managed.find(({ definition }) => definition.kind === kind)
  if (found === undefined) throw new Error(`there is no kind ${kind}`)
  return found
}

/** The Secret or ConfigMap that the resource's outputs went into. */
async function outputOf(world: World, { status }: Resource) {
  const output = status?.output as { readonly kind: string; readonly name: string } | undefined
  if (output === undefined) return undefined
  const type = output.kind === 'Secret' ? core('secrets', 'Secret') : core('configmaps', 'ConfigMap')
  return world.kube.get(type, { namespace: world.namespace, name: output.name })
}

test('every spec of every kind creates the expected object, which is deleted with its resource', {
  timeout: 300_000,
}, async () => {
  await using world = await World.open()
  await applyNeeds(world, cases, ['whole'])
  const all = subjects(cases, 'whole')
  await applyAll(world, all)
  const crs = await Promise.all(all.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  await expectAsWritten(world, all)

  for (const { kind, name } of all) await world.delete(kind, name)
  await Promise.all(all.map(({ kind, name }) => world.gone(kind, name, 120_000)))
  for (const [index, cr] of crs.entries()) {
    const { kind, name, path } = all[index] as Subject
    expect((await world.api.get(`/${path}/${cr.status?.id}`)).status, `${kind}/${name}`).toBe(404)
    // Kubernetes collects what belongs to a resource that is gone; no controller does so here.
    const owners = (await outputOf(world, cr))?.metadata.ownerReferences ?? []
    for (const { uid } of owners) expect(uid, `${kind}/${name}`).toBe(cr.metadata.uid)
    if (cr.status?.output !== undefined && owners.length === 0) {
      expect(await outputOf(world, cr), `${kind}/${name}`).toBeUndefined()
    }
  }
})

test('with deletionPolicy Retain every kind keeps its object, without a call, and its token in the Secret', {
  tags: 'nightly',
  timeout: 300_000,
}, async () => {
  await using world = await World.open()
  const full = managed.flatMap(({ definition }) => specsOf(definition.kind).slice(1, 2))
  await applyNeeds(world, full, ['kept'])
  const all = subjects(full, 'kept')
  await applyAll(
    world,
    all.map(({ spec, ...rest }) => ({ ...rest, spec: { ...spec, deletionPolicy: 'Retain' } })),
  )
  const crs = await Promise.all(all.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  const tokens = await Promise.all(crs.map((cr) => (hasToken(descriptorOf(cr.kind)) ? tokenOf(world, cr) : undefined)))
  const around = await surrounding(world)
  const mark = world.mark()
  for (const { kind, name } of all) await world.delete(kind, name)
  await Promise.all(all.map(({ kind, name }) => world.gone(kind, name, 120_000)))
  expect(world.journal(mark)).toEqual([])
  for (const [index, cr] of crs.entries()) {
    const { kind, name, title, path } = all[index] as Subject
    const id = cr.status?.id ?? ''
    const { body } = await world.api.get(`/${path}/${id}`)
    expect(body, `${kind}/${name}`).toEqual(specTitled(kind, title).object({ ...around, name }))
    const token = tokens[index]
    if (token === undefined) continue
    const secret = await secretNamed(world, tokenPlaceIn(cr.spec, name).name)
    expect(secret?.metadata.ownerReferences ?? [], `${kind}/${name}`).toEqual([])
    expect(Object.values(secret?.data ?? {})).toContain(Buffer.from(token).toString('base64'))
    expect(await openedBy(world, kind, token)).toBe(id)
  }
})
