import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefusal, type Resource, refTo } from '../builders/contract/api-client.ts'
import { createMinimal } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const path = 'event_subscriptions'
const created = 'ip_policy_created.v0'
const deleted = 'ip_policy_deleted.v0'
const sources = (...types: readonly string[]): unknown => types.map((type) => ({ type }))
const destination = (): Promise<Resource> => createMinimal(world, 'event_destinations')

test(stated('subscriptions.source-uri'), async () => {
  const subscription = await world.api.create(path, { sources: sources(created, deleted) })
  expect(subscription.sources).toEqual(
    [created, deleted].map((type) => ({ type, uri: `${subscription.uri}/sources/${type}` })),
  )
  for (const source of subscription.sources as readonly Resource[]) {
    expect(await world.api.object(200, 'GET', source.uri)).toEqual(source)
  }
})

test(stated('subscriptions.source-types'), async () => {
  for (const type of [created, 'something_else.v12', 'tls_edge_updated.v1', 'ip-policy.created.v0', 'IPPolicy.v1']) {
    expect((await world.api.create(path, { sources: sources(type) })).sources).toHaveLength(1)
  }
  const { id } = await world.api.create(path, {})
  for (const type of ['', 'ip_policy_created', 'ip_policy_created.0', '.v0', 'a.v', 'a.vx', 'a b.v0', 'a/b.v0']) {
    const body = { sources: sources(type) }
    expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, 'sources')
    expectRefusal(await world.api.call('POST', `/${path}/${id}/sources`, { body: { type } }), 400, 'type')
  }
  expectRefusal(await world.api.call('POST', `/${path}`, { body: { sources: [{}] } }), 400, 'type')
})

test('sources may be sent back as they are shown', async () => {
  const { id, sources: shown } = await world.api.create(path, { sources: sources(created, deleted) })
  expect((await world.api.update(path, id, { sources: shown })).sources).toEqual(shown)
  expect((await world.api.create(path, { sources: shown })).sources).toHaveLength(2)
})

test(stated('subscriptions.sources-added'), async () => {
  const { id, uri } = await world.api.create(path, {})
  const source = { type: created, uri: `${uri}/sources/${created}` }
  expect(await world.api.object(201, 'POST', `/${path}/${id}/sources`, { type: created })).toEqual(source)
  const again = await world.api.call('POST', `/${path}/${id}/sources`, { body: { type: created } })
  expectRefusal(again, 409, created)
  expect((await world.api.get(path, id)).sources).toEqual([source])
  expectRefusal(await world.api.call('POST', `/${path}/${id}/sources`, { body: {} }), 400, 'type')
  const unknown = await world.api.call('POST', `/${path}/esb_none/sources`, { body: { type: created } })
  expectRefusal(unknown, 404)
})

test(stated('subscriptions.sources-read-and-removed'), async () => {
  const { id, sources: both } = await world.api.create(path, { sources: sources(created, deleted) })
  const list = await world.api.object(200, 'GET', `/${path}/${id}/sources`)
  expect(list).toMatchObject({ sources: both, next_page_uri: null })
  expect(list.uri).toBe(`${world.url}/${path}/${id}/sources`)
  await world.api.remove(`/${path}/${id}/sources/${created}`)
  expectRefusal(await world.api.call('GET', `/${path}/${id}/sources/${created}`), 404)
  expectRefusal(await world.api.call('DELETE', `/${path}/${id}/sources/${created}`), 404)
  expect((await world.api.get(path, id)).sources).toEqual([expect.objectContaining({ type: deleted })])
})

test(stated('subscriptions.lists-replaced'), async () => {
  const [one, two] = [await destination(), await destination()]
  const subscription = await world.api.create(path, {
    sources: sources(created, deleted),
    destination_ids: [one.id, two.id],
  })
  expect(subscription.destinations).toEqual([refTo(one), refTo(two)])
  const { id } = subscription
  const other = await world.api.update(path, id, { sources: sources('tcp_edge_updated.v0') })
  expect(other.sources).toHaveLength(1)
  expect(other.destinations).toEqual([refTo(one), refTo(two)])
  expect((await world.api.update(path, id, { destination_ids: [two.id] })).destinations).toEqual([refTo(two)])
  const emptied = await world.api.update(path, id, { sources: [], destination_ids: [] })
  expect(emptied).toMatchObject({ sources: [], destinations: [] })
})

test('a destination that does not exist is a 400 naming field and id', async () => {
  const { id } = await destination()
  const unknown = `ed_${'0'.repeat(27)}`
  const body = { destination_ids: [id, unknown] }
  expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, 'destination_ids', unknown)
})
