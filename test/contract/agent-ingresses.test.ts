import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectRefusal, type Resource } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

const certSeconds = 5
const day = 24 * 60 * 60
const path = 'agent_ingresses'
const policy = { authority: 'letsencrypt', private_key_type: 'rsa' }

let world: World
beforeEach(async () => {
  world = await startWorld({ certSeconds })
})
afterEach(() => world.close())

const managed = (domain: string): Promise<Resource> =>
  world.api.create(path, { domain, certificate_management_policy: policy })
const targetsOf = (ingress: Resource): readonly string[] => ingress.ns_targets as readonly string[]

async function statusOf(id: string): Promise<Record<string, unknown>> {
  return (await world.api.get(path, id)).certificate_management_status as Record<string, unknown>
}

async function delegate(ingress: Resource, targets = targetsOf(ingress)): Promise<void> {
  for (const value of targets) await world.admin.addDnsRecord({ name: String(ingress.domain), type: 'NS', value })
}

test(stated('ingresses.uri'), async () => {
  const { id, uri } = await world.api.create(path, { domain: world.customDomain() })
  expect(uri).toBe(`/agent_ingresses/${id}`)
  const [listed] = await world.api.all(`/${path}`, 'ingresses')
  expect(listed?.uri).toBe(uri)
})

test(stated('ingresses.delegation'), async () => {
  const one = await world.api.create(path, { domain: world.customDomain() })
  const two = await world.api.create(path, { domain: world.customDomain() })
  expect(targetsOf(one)).toHaveLength(2)
  for (const target of targetsOf(one)) expect(target).toMatch(/^[a-z0-9.-]+\.tunnel\.example$/)
  expect(new Set([...targetsOf(one), ...targetsOf(two)]).size).toBe(4)
  expect(one.region_domains).toEqual(
    ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'].map((region) => `${region}.${one.domain}`),
  )
  const updated = await world.api.update(path, one.id, { description: 'other' })
  expect(updated.ns_targets).toEqual(one.ns_targets)
})

test(stated('ingresses.domain'), async () => {
  for (const domain of ['*.customer.example.org', 'tunnel.example', 'not a host', 'single', '']) {
    expectRefusal(await world.api.call('POST', `/${path}`, { body: { domain } }), 400, 'domain')
  }
  // Another collection may have the same name.
  const domain = world.customDomain()
  await world.api.create('reserved_domains', { domain })
  expect((await world.api.create(path, { domain: domain.toUpperCase() })).domain).toBe(domain)
})

test(stated('ingresses.ns-records'), async () => {
  const ingress = await managed(world.customDomain())
  const [first = '', second = ''] = targetsOf(ingress)
  expect(await statusOf(ingress.id)).toMatchObject({ renews_at: null, provisioning_job: { retries_at: null } })
  await delegate(ingress, [first])
  await world.admin.advance(certSeconds + 1)
  const { provisioning_job: job } = (await statusOf(ingress.id)) as { provisioning_job: Record<string, unknown> }
  expect(job.error_code).toBe('DNS_ERROR')
  expect(job.msg).toContain(`NS record ${ingress.domain} → ${second}`)
  expect(job.msg).not.toContain(first)
  await delegate(ingress, [second])
  await world.admin.advance(60)
  expect(await statusOf(ingress.id)).toMatchObject({ provisioning_job: null, renews_at: expect.stringMatching(/Z$/) })
})

test('a sub-domain of the service needs no NS records', async () => {
  const ingress = await managed(world.serviceDomain())
  expect(ingress.ns_targets).toEqual([])
  await world.admin.advance(certSeconds + 1)
  expect(await statusOf(ingress.id)).toMatchObject({ provisioning_job: null })
})

test(stated('ingresses.renewal'), async () => {
  const ingress = await managed(world.customDomain())
  await delegate(ingress)
  await world.admin.advance(certSeconds + 1)
  const { renews_at: first } = await statusOf(ingress.id)
  expect(Math.round((Date.parse(String(first)) - (await world.admin.now())) / 1000 / day)).toBe(60)
  await world.admin.advance(60 * day + certSeconds)
  const { renews_at: second, provisioning_job } = await statusOf(ingress.id)
  expect(provisioning_job).toBeNull()
  expect(Date.parse(String(second))).toBeGreaterThan(Date.parse(String(first)))
  await world.admin.clearDns()
  await world.admin.advance(60 * day + certSeconds)
  expect(await statusOf(ingress.id)).toMatchObject({ provisioning_job: { error_code: 'DNS_ERROR' } })
})

test(stated('ingresses.policy-cleared'), async () => {
  for (const clear of ['null', 'DELETE']) {
    const ingress = await managed(world.customDomain())
    if (clear === 'null') await world.api.update(path, ingress.id, { certificate_management_policy: null })
    else await world.api.remove(`/${path}/${ingress.id}/certificate_management_policy`)
    await world.admin.advance(day)
    expect(await world.api.get(path, ingress.id)).toMatchObject({
      certificate_management_policy: null,
      certificate_management_status: null,
    })
  }
})

test('an injected INTERNAL_ERROR is shown on the job of an agent ingress and goes away alone', async () => {
  await world.admin.failNextCertificates(1)
  const { id } = await managed(world.serviceDomain())
  await world.admin.advance(certSeconds + 1)
  expect(await statusOf(id)).toMatchObject({ provisioning_job: { error_code: 'INTERNAL_ERROR' } })
  await world.admin.advance(60)
  expect(await statusOf(id)).toMatchObject({ provisioning_job: null })
})
