import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, objectIn, type Resource } from '../builders/contract/api-client.ts'
import { fieldsWithoutSample, fullBody, minimalBody } from '../builders/contract/samples.ts'
import { wrongValues } from '../builders/contract/shapes.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections, createFields, fieldOf, responseFields } from './facts/all.ts'
import type { CollectionFact } from './facts/facts.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const names = (values: Iterable<string>): readonly string[] => [...values].sort((a, b) => a.localeCompare(b))
const mandatory = (row: CollectionFact): readonly string[] =>
  createFields(row)
    .filter((field) => field.sent?.create === 'mandatory')
    .map((field) => field.name)

function expectIdentity(row: CollectionFact, created: Resource): void {
  expect(created.id).toMatch(new RegExp(`^${row.idPrefix}[0-9A-Za-z]{27}$`))
  expect(created.uri).toBe(`${row.uri === 'absolute' ? world.url : ''}/${row.path}/${created.id}`)
  expect(created.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
}

test('every field that a request may carry has a sample', () => {
  expect(fieldsWithoutSample()).toEqual([])
})

describe.each(allCollections)('creating in $path', (row) => {
  test('with the mandatory fields alone answers 201 with every field of the contract and its default', async () => {
    const { body, shown } = await minimalBody(world, row)
    const answer = await world.api.call('POST', `/${row.path}`, { body })
    expect(answer.status, answer.text).toBe(201)
    const created = objectIn(answer) as Resource
    expect(names(Object.keys(created))).toEqual(names(responseFields(row).map((field) => field.name)))
    expectIdentity(row, created)
    for (const field of responseFields(row)) {
      const expected = field.name in shown ? shown[field.name] : field.returned?.absent
      if (expected !== undefined) expect(created[field.name], field.id).toEqual(expected)
    }
  })

  test('with every field answers each value, and a later GET shows the same', async () => {
    const { body, shown } = await fullBody(world, row)
    const created = await world.api.create(row.path, body)
    expectIdentity(row, created)
    expect(created).toMatchObject(shown)
    const fetched = await world.api.get(row.path, created.id)
    for (const [name, value] of Object.entries(shown)) expect(fetched[name], name).toEqual(value)
    expect(fetched.created_at).toBe(created.created_at)
  })

  test.each(mandatory(row))('without %s, or with null for it, is a 400 naming it', async (name) => {
    const { body } = await minimalBody(world, row)
    const { [name]: _left, ...rest } = body
    expectRefusal(await world.api.call('POST', `/${row.path}`, { body: rest }), 400, name)
    expectRefusal(await world.api.call('POST', `/${row.path}`, { body: { ...rest, [name]: null } }), 400, name)
  })

  test('with null for every optional field is the same as without them', async () => {
    const { body } = await minimalBody(world, row)
    const nulls = createFields(row).filter((field) => field.sent?.create === 'optional')
    const created = await world.api.create(row.path, {
      ...body,
      ...Object.fromEntries(nulls.map((field) => [field.name, null])),
    })
    for (const { sent } of nulls) {
      if (sent?.shownAs === undefined) continue
      const shownAs = fieldOf(row, sent.shownAs)
      if (shownAs.returned?.absent !== undefined) expect(created[shownAs.name]).toEqual(shownAs.returned.absent)
    }
  })

  test('with a field that is not in the contract is a 400 naming it', async () => {
    const { body } = await minimalBody(world, row)
    const answer = await world.api.call('POST', `/${row.path}`, { body: { ...body, colour: 'blue' } })
    expectRefusal(answer, 400, 'colour')
  })

  const refusedAtCreate = row.fields.filter((field) => field.sent === undefined || field.sent.create === 'refused')
  test.each(refusedAtCreate)('with $name, which a create may not carry, is a 400 naming it', async ({ name }) => {
    const { body } = await minimalBody(world, row)
    const answer = await world.api.call('POST', `/${row.path}`, { body: { ...body, [name]: 'x' } })
    expectRefusal(answer, 400, name)
  })

  test.each(createFields(row))('with another type for $name is a 400 naming it', async ({ name }) => {
    const { body } = await minimalBody(world, row)
    for (const wrong of wrongValues(fieldOf(row, name).sent?.shape)) {
      const answer = await world.api.call('POST', `/${row.path}`, { body: { ...body, [name]: wrong } })
      expectRefusal(answer, 400, name)
    }
  })
})
