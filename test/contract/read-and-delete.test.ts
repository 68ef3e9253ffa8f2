import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, objectIn, type Resource } from '../builders/contract/api-client.ts'
import { createMinimal } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections } from './facts/all.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const unknownId = (prefix: string): string => `${prefix}${'0'.repeat(27)}`

describe.each(allCollections)('$path', (row) => {
  test('a deleted object answers 404 to everything and is listed no more', async () => {
    const [kept, gone] = [await createMinimal(world, row.path), await createMinimal(world, row.path)]
    await world.api.remove(`/${row.path}/${gone.id}`)
    expectRefusal(await world.api.call('GET', `/${row.path}/${gone.id}`), 404, gone.id)
    expectRefusal(await world.api.call('PATCH', `/${row.path}/${gone.id}`, { body: {} }), 404, gone.id)
    // The path is validated before the body.
    expectRefusal(await world.api.call('PATCH', `/${row.path}/${gone.id}`, { body: { colour: 'blue' } }), 404, gone.id)
    expectRefusal(await world.api.call('DELETE', `/${row.path}/${gone.id}`), 404, gone.id)
    const listed = (await world.api.all(`/${row.path}`, row.listKey)).map((resource) => resource.id)
    expect(listed).toContain(kept.id)
    expect(listed).not.toContain(gone.id)
  })

  test('the uri of an object answers the object', async () => {
    const created = await createMinimal(world, row.path)
    expect((await world.api.object(200, 'GET', created.uri)).id).toBe(created.id)
  })

  test(stated('errors.unknown-route'), async () => {
    const id = expectRefusal(await world.api.call('GET', `/${row.path}/${unknownId(row.idPrefix)}`), 404)
    const sub = expectRefusal(await world.api.call('GET', `/${row.path}/${unknownId(row.idPrefix)}/nothing`), 404)
    const route = expectRefusal(await world.api.call('GET', '/nothing'), 404)
    expect(route.error_code).not.toBe(id.error_code)
    expect(sub.error_code).toBe(route.error_code)
  })

  test('the id of another collection is not found here', async () => {
    const other = await createMinimal(world, row.path === 'ip_policies' ? 'backends/http_response' : 'ip_policies')
    expectRefusal(await world.api.call('GET', `/${row.path}/${other.id}`), 404)
  })

  test(stated('errors.method'), async () => {
    const { id } = await createMinimal(world, row.path)
    for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
      const body = method === 'DELETE' ? {} : { body: {} }
      expectRefusal(await world.api.call(method, `/${row.path}`, body), 405)
    }
    for (const method of ['PUT', 'POST'] as const) {
      expectRefusal(await world.api.call(method, `/${row.path}/${id}`, { body: {} }), 405)
    }
  })

  test('a list is its key, uri and next_page_uri, and shows an object as GET does', async () => {
    const created = await createMinimal(world, row.path)
    const answer = await world.api.call('GET', `/${row.path}?limit=1`)
    expect(answer.status).toBe(200)
    const page = objectIn(answer)
    expect(Object.keys(page).sort((a, b) => a.localeCompare(b))).toEqual(
      [row.listKey, 'next_page_uri', 'uri'].sort((a, b) => a.localeCompare(b)),
    )
    expect(page[row.listKey]).toEqual([await world.api.get(row.path, created.id)])
  })

  test(stated('lists.newest-first'), async () => {
    const created: string[] = []
    for (let count = 0; count < 5; count += 1) created.push((await createMinimal(world, row.path)).id)
    const all = await world.api.all(`/${row.path}`, row.listKey)
    const paged = await world.api.all(`/${row.path}?limit=2`, row.listKey)
    const ids = paged.map((resource: Resource) => resource.id)
    expect(ids.slice(0, 5)).toEqual(created.toReversed())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(all.map((resource) => resource.id))
  })
})
