import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, objectIn } from '../builders/contract/api-client.ts'
import { fullBody, sampleOf } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { collectionAt, fieldOf } from './facts/all.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const modules = ['edges/tcp', 'edges/tls'].flatMap((path) =>
  collectionAt(path).subResources.map((sub) => ({
    path,
    row: collectionAt(path),
    name: sub.path,
    methods: sub.methods,
  })),
)

describe.each(modules)('$name of $path', ({ path, row, name }) => {
  test(stated('edges.module-get'), async () => {
    const edge = await world.api.create(path, (await fullBody(world, row)).body)
    const answer = await world.api.call('GET', `/${path}/${edge.id}/${name}`)
    expect(answer.status).toBe(200)
    expect(objectIn(answer)).toEqual(edge[name])
  })

  test(stated('edges.module-put'), async () => {
    const { id } = await world.api.create(path, {})
    const address = `/${path}/${id}/${name}`
    for (const variant of ['first', 'second'] as const) {
      const { sent, returned } = await sampleOf(world, row, fieldOf(row, name), variant)
      // The bare module, then the form that some clients send.
      const body = variant === 'first' ? sent : { id, module: sent }
      expect(await world.api.object(200, 'PUT', address, body)).toEqual(returned)
      expect((await world.api.get(path, id))[name]).toEqual(returned)
    }
    const disabled = await world.api.object(200, 'PUT', address, { enabled: false })
    expect(disabled.enabled).toBe(false)
    expect((await world.api.get(path, id))[name]).toEqual(disabled)
  })

  test('PUT refuses a field that the module has not, and changes nothing', async () => {
    const edge = await world.api.create(path, (await fullBody(world, row)).body)
    const answer = await world.api.call('PUT', `/${path}/${edge.id}/${name}`, { body: { colour: 'blue' } })
    expectRefusal(answer, 400, 'colour')
    expect(await world.api.get(path, edge.id)).toEqual(edge)
  })

  test(stated('edges.module-delete'), async () => {
    const edge = await world.api.create(path, (await fullBody(world, row)).body)
    await world.api.remove(`/${path}/${edge.id}/${name}`)
    expect(await world.api.get(path, edge.id)).toEqual({ ...edge, [name]: null })
    expectRefusal(await world.api.call('GET', `/${path}/${edge.id}/${name}`), 404)
    await world.api.remove(`/${path}/${edge.id}/${name}`)
  })

  test('an unknown edge is a 404, and another method a 405', async () => {
    const unknown = `/${path}/${row.idPrefix}${'0'.repeat(27)}/${name}`
    expectRefusal(await world.api.call('GET', unknown), 404)
    expectRefusal(await world.api.call('PUT', unknown, { body: { enabled: false } }), 404)
    expectRefusal(await world.api.call('DELETE', unknown), 404)
    const { id } = await world.api.create(path, {})
    for (const method of ['POST', 'PATCH'] as const) {
      expectRefusal(await world.api.call(method, `/${path}/${id}/${name}`, { body: {} }), 405)
    }
  })
})
