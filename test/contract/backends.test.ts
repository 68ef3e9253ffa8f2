import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, type Resource } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const leaf = (): Promise<Resource> => world.api.create('backends/http_response', {})

const parents = [
  {
    path: 'backends/weighted',
    children: (...ids: readonly string[]): unknown => Object.fromEntries(ids.map((id) => [id, 1])),
  },
  { path: 'backends/failover', children: (...ids: readonly string[]): unknown => ids },
]

describe.each(parents)('$path', ({ path, children }) => {
  const parentOf = (...ids: readonly string[]): Promise<Resource> =>
    world.api.create(path, { backends: children(...ids) })

  test(stated('backends.children-exist'), async () => {
    const [child, gone] = [await leaf(), await leaf()]
    await world.api.remove(`/backends/http_response/${gone.id}`)
    const policy = await world.api.create('ip_policies', {})
    const parent = await parentOf(child.id)
    for (const unknown of [gone.id, policy.id, 'bkdhr_none']) {
      const body = { backends: children(child.id, unknown) }
      expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, 'backends', unknown)
      expectRefusal(await world.api.call('PATCH', `/${path}/${parent.id}`, { body }), 400, 'backends', unknown)
    }
  })

  test('takes children of every kind', async () => {
    const inner = await leaf()
    const ids = [
      (await world.api.create('backends/tunnel_group', { labels: { app: 'web' } })).id,
      inner.id,
      (await world.api.create('backends/weighted', { backends: { [inner.id]: 1 } })).id,
      (await world.api.create('backends/failover', { backends: [inner.id] })).id,
    ]
    expect((await parentOf(...ids)).backends).toEqual(children(...ids))
  })

  test(stated('backends.no-cycle'), async () => {
    const bottom = await parentOf((await leaf()).id)
    const middle = await world.api.create('backends/failover', { backends: [bottom.id] })
    const top = await world.api.create('backends/weighted', { backends: { [middle.id]: 1 } })
    for (const descendant of [bottom, middle, top]) {
      const body = { backends: children(descendant.id) }
      expectRefusal(await world.api.call('PATCH', `/${path}/${bottom.id}`, { body }), 400, 'backends')
    }
    expect(await world.api.get(path, bottom.id)).toEqual(bottom)
  })

  test('one child under two parents, or twice removed, is no cycle', async () => {
    const child = await leaf()
    const left = await parentOf(child.id)
    const right = await parentOf(child.id)
    expect((await parentOf(left.id, right.id, child.id)).backends).toEqual(children(left.id, right.id, child.id))
  })
})

test(stated('backends.weights'), async () => {
  const child = await leaf()
  const path = 'backends/weighted'
  for (const weight of [0, 1, 10_000]) {
    expect((await world.api.create(path, { backends: { [child.id]: weight } })).backends).toEqual({
      [child.id]: weight,
    })
  }
  for (const weight of [-1, 10_001, 0.5, '1', null]) {
    const body = { backends: { [child.id]: weight } }
    expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, 'backends')
  }
})

test(stated('backends.failover-order'), async () => {
  const ids = [(await leaf()).id, (await leaf()).id, (await leaf()).id]
  const orders = [ids, ids.toReversed(), [ids[1], ids[2], ids[0]]]
  const { id } = await world.api.create('backends/failover', {})
  for (const backends of orders) {
    expect((await world.api.update('backends/failover', id, { backends })).backends).toEqual(backends)
    expect((await world.api.get('backends/failover', id)).backends).toEqual(backends)
  }
})

test(stated('backends.header-names'), async () => {
  const response = await world.api.create('backends/http_response', { headers: { 'X-Mixed-CASE': 'Kept As Is' } })
  expect(response.headers).toEqual({ 'x-mixed-case': 'Kept As Is' })
  const group = await world.api.create('backends/tunnel_group', { labels: { 'App.Example/Mixed-CASE': 'Kept As Is' } })
  expect(group.labels).toEqual({ 'App.Example/Mixed-CASE': 'Kept As Is' })
})

test('an update replaces a map whole', async () => {
  const { id } = await world.api.create('backends/tunnel_group', { labels: { a: '1', b: '2' } })
  expect((await world.api.update('backends/tunnel_group', id, { labels: { c: '3' } })).labels).toEqual({ c: '3' })
  expect((await world.api.update('backends/tunnel_group', id, { labels: {} })).labels).toEqual({})
})
