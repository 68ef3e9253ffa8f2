import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal } from '../builders/contract/api-client.ts'
import { createMinimal, minimalBody } from '../builders/contract/samples.ts'
import { textOfBytes } from '../builders/contract/shapes.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections, createFields } from './facts/all.ts'
import type { CollectionFact, FieldFact, Limit } from './facts/facts.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

interface Limited {
  readonly row: CollectionFact
  readonly name: string
  readonly path: string
  readonly limit: Limit
}

const limited: readonly Limited[] = allCollections.flatMap((row) =>
  createFields(row).flatMap((field) => {
    const shape = field.sent?.shape
    if (shape?.kind !== 'string' || shape.limit === undefined) return []
    return [{ row, path: row.path, name: field.name, limit: shape.limit }]
  }),
)

/** Texts at the limit, then texts just over it. */
function boundary({ max, unit }: Limit): { readonly accepted: readonly string[]; readonly refused: readonly string[] } {
  switch (unit) {
    case 'bytes':
      return {
        accepted: ['x'.repeat(max), textOfBytes(max)],
        // Half as many characters as the limit, but too many bytes.
        refused: ['x'.repeat(max + 1), textOfBytes(max + 1), '😀'.repeat(Math.floor(max / 4) + 1)],
      }
    case 'chars':
      return {
        accepted: ['x'.repeat(max), 'é'.repeat(max), '😀'.repeat(max)],
        refused: ['x'.repeat(max + 1), 'é'.repeat(max + 1)],
      }
  }
}

describe.each(limited)('$name of $path, at most $limit.max $limit.unit', ({ row, path, name, limit }) => {
  test('is accepted at the limit and a 400 naming it beyond, at create', async () => {
    for (const text of boundary(limit).accepted) {
      const { body } = await minimalBody(world, row)
      expect((await world.api.create(path, { ...body, [name]: text }))[name]).toBe(text)
    }
    for (const text of boundary(limit).refused) {
      const { body } = await minimalBody(world, row)
      expectRefusal(await world.api.call('POST', `/${path}`, { body: { ...body, [name]: text } }), 400, name)
    }
  })

  test('is accepted at the limit and a 400 naming it beyond, at update', async () => {
    const { id } = await createMinimal(world, path)
    for (const text of boundary(limit).accepted) {
      expect((await world.api.update(path, id, { [name]: text }))[name]).toBe(text)
    }
    const before = await world.api.get(path, id)
    for (const text of boundary(limit).refused) {
      expectRefusal(await world.api.call('PATCH', `/${path}/${id}`, { body: { [name]: text } }), 400, name)
    }
    expect(await world.api.get(path, id)).toEqual(before)
  })
})

describe.each(allCollections.filter((row) => row.path.startsWith('backends/')))('$path', (row) => {
  test(stated('backends.no-text-limits'), async () => {
    const long = 'é'.repeat(20_000)
    expect(await world.api.create(row.path, { description: long, metadata: long })).toMatchObject({
      description: long,
      metadata: long,
    })
  })
})

const closed: readonly { readonly row: CollectionFact; readonly id: string; readonly field: FieldFact }[] =
  allCollections.flatMap((row) =>
    createFields(row)
      .filter((field) => field.sent?.shape.kind === 'string' && field.sent.shape.values !== undefined)
      .map((field) => ({ row, id: field.id, field })),
  )

test.each(closed)(
  '$id takes each value of its closed list and a 400 naming it for any other',
  async ({ row, field }) => {
    const shape = field.sent?.shape
    const values = shape?.kind === 'string' ? (shape.values ?? []) : []
    expect(values.length).toBeGreaterThan(0)
    const { shownAs, goesWith } = field.sent ?? {}
    for (const value of values) {
      const { body } = await minimalBody(world, row)
      const partner = goesWith === undefined ? {} : { [goesWith.field]: goesWith.value }
      const created = await world.api.create(row.path, { ...body, ...partner, [field.name]: value })
      if (shownAs !== undefined) expect(created[shownAs]).toBe(value)
    }
    // Of an optional scalar, `""` counts as unset.
    for (const value of field.sent?.create === 'mandatory' ? ['', 'nonsense'] : ['nonsense']) {
      const { body } = await minimalBody(world, row)
      expectRefusal(
        await world.api.call('POST', `/${row.path}`, { body: { ...body, [field.name]: value } }),
        400,
        field.name,
      )
    }
  },
)

test('the status code of an HTTP response backend is a whole number from 200 to 999', async () => {
  const path = 'backends/http_response'
  for (const code of [200, 599, 999])
    expect((await world.api.create(path, { status_code: code })).status_code).toBe(code)
  for (const code of [199, 1000, 0, -1, 200.5]) {
    expectRefusal(await world.api.call('POST', `/${path}`, { body: { status_code: code } }), 400, 'status_code')
  }
})
