import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal } from '../builders/contract/api-client.ts'
import { createMinimal, fullBody, sampleOf, updateBody } from '../builders/contract/samples.ts'
import { wrongValues } from '../builders/contract/shapes.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections, fieldOf, updateFields } from './facts/all.ts'
import type { CollectionFact, FieldFact } from './facts/facts.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

/** Fields that the service changes on its own while it provisions a certificate. */
const settling = ['certificate', 'certificate_management_status']

/** Response fields that may also change with the field. */
function affected(row: CollectionFact, field: FieldFact): readonly (string | undefined)[] {
  const { excludes, shownAs } = field.sent ?? {}
  const other = excludes === undefined ? undefined : fieldOf(row, excludes).sent?.shownAs
  return [shownAs, other, ...settling]
}

const without = (object: Readonly<Record<string, unknown>>, names: readonly (string | undefined)[]): unknown =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

describe.each(allCollections)('updating in $path', (row) => {
  const fixed = row.fields.filter((field) => field.sent?.update === 'fixed')
  const unsendable = row.fields.filter((field) => field.sent === undefined && field.name !== 'id')
  const clearable = updateFields(row).filter((field) => field.sent?.whenNull === 'clears')
  const notNullable = updateFields(row).filter((field) => field.sent?.whenNull === 'refused')

  test('with every field answers each new value, and a later GET shows the same', async () => {
    const created = await world.api.create(row.path, (await fullBody(world, row)).body)
    const { body, shown } = await updateBody(world, row)
    const updated = await world.api.update(row.path, created.id, body)
    const fetched = await world.api.get(row.path, created.id)
    for (const [name, value] of Object.entries(shown)) {
      expect(updated[name], name).toEqual(value)
      expect(fetched[name], name).toEqual(value)
    }
    expect(updated.created_at).toBe(created.created_at)
    expect(updated.uri).toBe(created.uri)
  })

  test.each(updateFields(row))('with $name alone changes it and leaves the rest', async (field) => {
    const { id } = await world.api.create(row.path, (await fullBody(world, row)).body)
    const before = await world.api.get(row.path, id)
    const sample = await sampleOf(world, row, fieldOf(row, field.name), 'second')
    const after = await world.api.update(row.path, id, { [field.name]: sample.sent })
    expect(after[field.sent?.shownAs ?? '']).toEqual(sample.returned)
    expect(without(after, affected(row, field))).toEqual(without(before, affected(row, field)))
  })

  test('with an empty body leaves everything', async () => {
    const { id } = await world.api.create(row.path, (await fullBody(world, row)).body)
    const before = await world.api.get(row.path, id)
    expect(without(await world.api.update(row.path, id, {}), settling)).toEqual(without(before, settling))
  })

  test('takes an id in the body and ignores it', async () => {
    const { id } = await createMinimal(world, row.path)
    const before = await world.api.get(row.path, id)
    expect(await world.api.update(row.path, id, { id })).toEqual(before)
    expect(await world.api.update(row.path, id, { id: `${row.idPrefix}another` })).toEqual(before)
  })

  test.each(clearable)('with null for $name puts back its default', async (field) => {
    const { id } = await createMinimal(world, row.path)
    const shownAs = field.sent?.shownAs ?? ''
    const sample = await sampleOf(world, row, field, 'first')
    expect((await world.api.update(row.path, id, { [field.name]: sample.sent }))[shownAs]).toEqual(sample.returned)
    expect((await world.api.update(row.path, id, { [field.name]: null }))[shownAs]).toEqual(
      fieldOf(row, shownAs).returned?.absent,
    )
  })

  if (notNullable.length > 0) {
    test.each(notNullable)('with null for $name is a 400 naming it', async ({ name }) => {
      const { id } = await createMinimal(world, row.path)
      expectRefusal(await world.api.call('PATCH', `/${row.path}/${id}`, { body: { [name]: null } }), 400, name)
    })
  }

  test.each(updateFields(row))('with another type for $name is a 400 naming it', async ({ name, sent }) => {
    const { id } = await createMinimal(world, row.path)
    for (const wrong of wrongValues(sent?.shape)) {
      expectRefusal(await world.api.call('PATCH', `/${row.path}/${id}`, { body: { [name]: wrong } }), 400, name)
    }
  })

  if (fixed.length > 0) {
    test.each(fixed)('with $name, which is fixed at create, is a 400 naming it', async (field) => {
      const { id } = await createMinimal(world, row.path)
      const sample = await sampleOf(world, row, field, 'second')
      const answer = await world.api.call('PATCH', `/${row.path}/${id}`, { body: { [field.name]: sample.sent } })
      expectRefusal(answer, 400, field.name)
    })
  }

  test.each(unsendable)('with $name, which only responses carry, is a 400 naming it', async ({ name }) => {
    const { id } = await createMinimal(world, row.path)
    expectRefusal(await world.api.call('PATCH', `/${row.path}/${id}`, { body: { [name]: 'x' } }), 400, name)
  })

  test('with a field that is not in the contract is a 400 naming it and changes nothing', async () => {
    const { id } = await createMinimal(world, row.path)
    const before = await world.api.get(row.path, id)
    const [known] = updateFields(row)
    const { sent } = await sampleOf(world, row, fieldOf(row, known?.name ?? ''), 'second')
    const body = { [known?.name ?? '']: sent, colour: 'blue' }
    expectRefusal(await world.api.call('PATCH', `/${row.path}/${id}`, { body }), 400, 'colour')
    expect(await world.api.get(row.path, id)).toEqual(before)
  })
})
