import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, type Resource } from '../builders/contract/api-client.ts'
import { createMinimal, sampleOf } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections, collectionAt, fieldOf } from './facts/all.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const path = 'reserved_domains'
const policy = { authority: 'letsencrypt', private_key_type: 'ecdsa' }
const reserve = (fields: Readonly<Record<string, unknown>> = {}): Promise<Resource> =>
  world.api.create(path, { domain: world.serviceDomain(), ...fields })

test(stated('domains.certificate-xor-policy'), async () => {
  const certificate_id = await world.admin.seedTlsCertificate('upload')
  const both = { certificate_id, certificate_management_policy: policy }
  const body = { domain: world.serviceDomain(), ...both }
  const names = ['certificate_id', 'certificate_management_policy'] as const
  expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, ...names)
  const { id } = await reserve()
  expectRefusal(await world.api.call('PATCH', `/${path}/${id}`, { body: both }), 400, ...names)
})

test(stated('domains.one-replaces-the-other'), async () => {
  const certificate_id = await world.admin.seedTlsCertificate('upload')
  const { id } = await reserve({ certificate_management_policy: policy })
  expect(await world.api.update(path, id, { certificate_id })).toMatchObject({
    certificate: { id: certificate_id },
    certificate_management_policy: null,
    certificate_management_status: null,
  })
  const managed = await world.api.update(path, id, { certificate_management_policy: policy })
  expect(managed.certificate_management_policy).toEqual(policy)
  expect(managed.certificate_management_status).not.toBeNull()
})

test(stated('domains.policy-cleared-keeps-certificate'), async () => {
  for (const clear of ['null', 'DELETE']) {
    const { id } = await reserve({ certificate_management_policy: policy })
    await world.admin.advance(60)
    const { certificate } = await world.api.get(path, id)
    expect(certificate).toMatchObject({ id: expect.stringMatching(/^cert_/) })
    if (clear === 'null') await world.api.update(path, id, { certificate_management_policy: null })
    else await world.api.remove(`/${path}/${id}/certificate_management_policy`)
    expect(await world.api.get(path, id)).toMatchObject({
      certificate,
      certificate_management_policy: null,
      certificate_management_status: null,
    })
  }
})

const clearing = allCollections.flatMap((row) =>
  row.subResources.filter((sub) => sub.methods.length === 1).map((sub) => ({ row, name: sub.path, id: sub.id })),
)

describe.each(clearing)('$id', ({ row, name }) => {
  test(stated('domains.clearing-endpoints'), async () => {
    const { id } = await createMinimal(world, row.path)
    const setter = row.fields.find((field) => field.sent?.shownAs === name && field.sent.update === 'mutable')
    if (setter === undefined) throw new Error(`nothing sets ${name}`)
    const sample = await sampleOf(world, row, fieldOf(row, setter.name), 'second')
    expect((await world.api.update(row.path, id, { [setter.name]: sample.sent }))[name]).toEqual(sample.returned)
    for (let time = 0; time < 2; time += 1) {
      await world.api.remove(`/${row.path}/${id}/${name}`)
      expect((await world.api.get(row.path, id))[name]).toBeNull()
    }
  })

  test('of an unknown id is a 404, and another method a 405', async () => {
    const { id } = await createMinimal(world, row.path)
    expectRefusal(await world.api.call('DELETE', `/${row.path}/${row.idPrefix}none/${name}`), 404)
    expectRefusal(await world.api.call('PUT', `/${row.path}/${id}/${name}`, { body: {} }), 405)
  })
})

test('an id of a certificate or endpoint configuration that names nothing is a 400 naming field and id', async () => {
  const { id } = await reserve()
  const unknown = 'nothing_here'
  for (const name of ['certificate_id', 'http_endpoint_configuration_id', 'https_endpoint_configuration_id']) {
    expectRefusal(await world.api.call('PATCH', `/${path}/${id}`, { body: { [name]: unknown } }), 400, name, unknown)
  }
  const address = await world.api.create('reserved_addrs', {})
  const answer = await world.api.call('PATCH', `/reserved_addrs/${address.id}`, {
    body: { endpoint_configuration_id: unknown },
  })
  expectRefusal(answer, 400, 'endpoint_configuration_id', unknown)
})

test(stated('domains.service-subdomain-has-no-targets'), async () => {
  for (const domain of [world.serviceDomain(), `*.${world.serviceDomain()}`]) {
    expect(await reserve({ domain })).toMatchObject({ cname_target: null, acme_challenge_cname_target: null })
  }
})

test(stated('domains.custom-has-cname'), async () => {
  const plain = await reserve({ domain: world.customDomain() })
  expect(plain.cname_target).toMatch(/^[a-z0-9.-]+\.[a-z]+$/)
  expect(plain.acme_challenge_cname_target).toBeNull()
  const wildcard = await reserve({ domain: `*.${world.customDomain()}` })
  expect(wildcard.cname_target).toMatch(/^[a-z0-9.-]+\.[a-z]+$/)
  expect(wildcard.acme_challenge_cname_target).toMatch(/^[a-z0-9._-]+\.[a-z]+$/)
  expect(wildcard.cname_target).not.toBe(plain.cname_target)
})

test('a domain that is no hostname is a 400 naming it', async () => {
  for (const domain of [
    '',
    'not a host',
    'a..b.example',
    '-a.example',
    'a.*.example',
    '*',
    'https://a.example',
    'a.example:443',
  ]) {
    expectRefusal(await world.api.call('POST', `/${path}`, { body: { domain } }), 400, 'domain')
  }
})

test(stated('certificates.policy-defaults'), async () => {
  const created = await reserve({ certificate_management_policy: { authority: 'letsencrypt' } })
  expect(created.certificate_management_policy).toEqual({ authority: 'letsencrypt', private_key_type: 'rsa' })
  for (const wrong of [{ authority: 'another' }, { authority: 'letsencrypt', private_key_type: 'dsa' }]) {
    const body = { domain: world.serviceDomain(), certificate_management_policy: wrong }
    expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, 'certificate_management_policy')
  }
})

test(stated('addresses.host-and-port'), async () => {
  const seen = new Set<unknown>()
  for (let count = 0; count < 20; count += 1) {
    const { addr } = await world.api.create('reserved_addrs', {})
    expect(addr).toMatch(/^[a-z0-9.-]+\.[a-z0-9-]+:[1-9]\d{0,4}$/)
    expect(Number(String(addr).split(':')[1])).toBeLessThanOrEqual(65_535)
    seen.add(addr)
  }
  expect(seen.size).toBe(20)
  expect(collectionAt('reserved_addrs').fields.find(({ name }) => name === 'addr')?.sent).toBeUndefined()
})
