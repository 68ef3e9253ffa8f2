import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const reserve = async (domain: string): Promise<string> => {
  await world.api.create('reserved_domains', { domain })
  return domain
}

describe.each(['edges/tcp', 'edges/tls'])('hostports of %s', (path) => {
  const withHostports = (...hostports: readonly string[]): ReturnType<World['api']['call']> =>
    world.api.call('POST', `/${path}`, { body: { hostports } })

  test(stated('edges.hostports-owned'), async () => {
    const domain = await reserve(world.serviceDomain())
    const { addr } = await world.api.create('reserved_addrs', {})
    const [host, port] = String(addr).split(':')
    const created = await world.api.create(path, { hostports: [`${domain}:443`, `${domain}:8443`, addr] })
    expect(created.hostports).toEqual([`${domain}:443`, `${domain}:8443`, addr])
    await world.api.remove(`/${path}/${created.id}`)
    for (const foreign of [
      'example.org:443',
      `other.${domain}:443`,
      `x${domain}:443`,
      `${host}:${Number(port) === 1 ? 2 : 1}`,
    ]) {
      expectRefusal(await withHostports(`${domain}:443`, foreign), 400, 'hostports', foreign)
    }
  })

  test(stated('edges.hostports-wildcard'), async () => {
    const base = world.serviceDomain()
    await reserve(`*.${base}`)
    expect((await withHostports(`one.${base}:443`, `two.${base}:443`)).status).toBe(201)
    for (const foreign of [`${base}:443`, `a.b.${base}:443`]) {
      expectRefusal(await withHostports(foreign), 400, 'hostports', foreign)
    }
  })

  test(stated('edges.hostports-once'), async () => {
    const domain = await reserve(world.serviceDomain())
    const holder = await world.api.create(path, { hostports: [`${domain}:443`] })
    expectRefusal(await withHostports(`${domain}:443`), 409, `${domain}:443`)
    const other = await world.api.create(path, { hostports: [`${domain}:444`] })
    const taken = await world.api.call('PATCH', `/${path}/${other.id}`, { body: { hostports: [`${domain}:443`] } })
    expectRefusal(taken, 409, `${domain}:443`)
    // Its own hostport is no conflict, and a released one is free.
    expect((await world.api.update(path, holder.id, { hostports: [`${domain}:443`] })).hostports).toHaveLength(1)
    await world.api.update(path, holder.id, { hostports: [] })
    expect((await world.api.update(path, other.id, { hostports: [`${domain}:443`] })).hostports).toHaveLength(1)
  })

  test('a hostport on an edge of the other kind is taken too', async () => {
    const domain = await reserve(world.serviceDomain())
    await world.api.create(path === 'edges/tcp' ? 'edges/tls' : 'edges/tcp', { hostports: [`${domain}:443`] })
    expectRefusal(await withHostports(`${domain}:443`), 409, `${domain}:443`)
  })

  test(stated('edges.hostports-form'), async () => {
    const domain = await reserve(world.serviceDomain())
    for (const bad of [
      domain,
      `${domain}:`,
      `${domain}:0`,
      `${domain}:65536`,
      `${domain}:x`,
      ':443',
      '',
      `${domain}:1:2`,
    ]) {
      expectRefusal(await withHostports(bad), 400, 'hostports')
    }
    expect((await withHostports(`${domain}:1`, `${domain}:65535`)).status).toBe(201)
  })

  test('may be empty', async () => {
    expect((await world.api.create(path, { hostports: [] })).hostports).toEqual([])
  })
})
