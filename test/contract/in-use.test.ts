import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, type Resource } from '../builders/contract/api-client.ts'
import { createMinimal, minimalBody } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections } from './facts/all.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

/** The object cannot be deleted while `user` refers to it, and can be after `removeFinalizer`. */
async function expectHeld(
  path: string,
  id: string,
  user: Resource,
  removeFinalizer: () => Promise<unknown>,
): Promise<void> {
  expectRefusal(await world.api.call('DELETE', `/${path}/${id}`), 409, user.id)
  expect((await world.api.get(path, id)).id).toBe(id)
  await removeFinalizer()
  await world.api.remove(`/${path}/${id}`)
}

const backendKinds = ['tunnel_group', 'http_response', 'weighted', 'failover'].map((kind) => `backends/${kind}`)

describe.each(['edges/tcp', 'edges/tls'])('%s', (edges) => {
  test.each(backendKinds)(`${stated('in-use.backend-of-edge')}: %s`, async (path) => {
    const backend = await createMinimal(world, path)
    const edge = await world.api.create(edges, { backend: { backend_id: backend.id } })
    await expectHeld(path, backend.id, edge, () => world.api.remove(`/${edges}/${edge.id}`))
  })

  test(stated('in-use.disabled-module-lets-go'), async () => {
    const path = 'backends/http_response'
    const backend = await createMinimal(world, path)
    const edge = await world.api.create(edges, { backend: { backend_id: backend.id } })
    await expectHeld(path, backend.id, edge, () => world.api.update(edges, edge.id, { backend: { enabled: false } }))
  })

  test('a backend is let go by deleting the module, and by putting another', async () => {
    const path = 'backends/http_response'
    const [one, two] = [await createMinimal(world, path), await createMinimal(world, path)]
    const edge = await world.api.create(edges, { backend: { backend_id: one.id } })
    const address = `/${edges}/${edge.id}/backend`
    await expectHeld(path, one.id, edge, () => world.api.object(200, 'PUT', address, { backend_id: two.id }))
    await expectHeld(path, two.id, edge, () => world.api.remove(address))
  })

  test(stated('in-use.domain'), async () => {
    const name = world.serviceDomain()
    const domain = await world.api.create('reserved_domains', { domain: name })
    const wildcard = await world.api.create('reserved_domains', { domain: `*.${name}` })
    const address = await world.api.create('reserved_addrs', {})
    const edge = await world.api.create(edges, { hostports: [`${name}:443`, `sub.${name}:443`, address.addr] })
    const keep =
      (...hostports: readonly unknown[]) =>
      () =>
        world.api.update(edges, edge.id, { hostports })
    await expectHeld('reserved_domains', domain.id, edge, keep(`sub.${name}:443`, address.addr))
    await expectHeld('reserved_domains', wildcard.id, edge, keep(address.addr))
    await expectHeld('reserved_addrs', address.id, edge, keep())
  })
})

test.each(backendKinds)(`${stated('in-use.backend-of-backend')}: %s`, async (path) => {
  for (const parentPath of ['backends/weighted', 'backends/failover']) {
    const child = await createMinimal(world, path)
    const children = parentPath === 'backends/weighted' ? { [child.id]: 0 } : [child.id]
    const parent = await world.api.create(parentPath, { backends: children })
    const none = parentPath === 'backends/weighted' ? {} : []
    await expectHeld(path, child.id, parent, () => world.api.update(parentPath, parent.id, { backends: none }))
  }
})

test(stated('in-use.certificate-authority'), async () => {
  const path = 'certificate_authorities'
  const [one, two] = [await createMinimal(world, path), await createMinimal(world, path)]
  const edge = await world.api.create('edges/tls', { mutual_tls: { certificate_authority_ids: [one.id, two.id] } })
  await expectHeld(path, one.id, edge, () =>
    world.api.update('edges/tls', edge.id, { mutual_tls: { certificate_authority_ids: [two.id] } }),
  )
  await expectHeld(path, two.id, edge, () => world.api.update('edges/tls', edge.id, { mutual_tls: { enabled: false } }))
})

test(stated('in-use.destination'), async () => {
  const destination = await createMinimal(world, 'event_destinations')
  const [one, two] = [
    await world.api.create('event_subscriptions', { destination_ids: [destination.id] }),
    await world.api.create('event_subscriptions', { destination_ids: [destination.id] }),
  ]
  // The refusal names every object that uses it.
  expectRefusal(await world.api.call('DELETE', `/event_destinations/${destination.id}`), 409, one.id, two.id)
  await world.api.remove(`/event_subscriptions/${one.id}`)
  await expectHeld('event_destinations', destination.id, two, () =>
    world.api.update('event_subscriptions', two.id, { destination_ids: [] }),
  )
})

describe.each(allCollections.filter((row) => row.unique.length > 0))('$path', (row) => {
  test.each(row.unique)(`${stated('unique.conflict')}: %s`, async (name) => {
    const { body } = await minimalBody(world, row)
    const holder = await world.api.create(row.path, body)
    expectRefusal(await world.api.call('POST', `/${row.path}`, { body }), 409, String(body[name]))
    await world.api.remove(`/${row.path}/${holder.id}`)
    expect((await world.api.create(row.path, body))[name]).toBe(body[name])
  })
})
