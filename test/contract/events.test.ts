import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Delivery } from '../builders/contract/admin-surface.ts'
import { ApiClient, expectRefusal, type Resource } from '../builders/contract/api-client.ts'
import { createMinimal, fullBody, sampleOf, updateBody } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections } from './facts/all.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ certSeconds: 10 })
})
afterAll(() => world.close())

interface Subscription extends Resource {
  /** Id of its exclusive destination. */
  readonly to: string
}

async function subscribe(...types: readonly string[]): Promise<Subscription> {
  const { id: to } = await createMinimal(world, 'event_destinations')
  const body = { sources: types.map((type) => ({ type })), destination_ids: [to] }
  return { ...(await world.api.create('event_subscriptions', body)), to }
}

const allOf = (name: string): readonly string[] =>
  ['created', 'updated', 'deleted'].map((change) => `${name}_${change}.v0`)
const typesOf = (deliveries: readonly Delivery[]): readonly string[] => deliveries.map(({ type }) => type)
/** Deliveries about one object. */
const about = (deliveries: readonly Delivery[], { id }: { readonly id: string }): readonly Delivery[] =>
  deliveries.filter(({ event }) => event.object.id === id)

test(stated('events.recorded'), async () => {
  const [one, two] = [await subscribe('ip_policy_created.v0'), await subscribe(...allOf('ip_policy'))]
  const both = await world.api.create('event_subscriptions', {
    sources: [{ type: 'ip_policy_created.v0' }],
    destination_ids: [one.to, two.to],
  })
  const policy = await world.api.create('ip_policies', { description: 'told of' })
  await world.api.update('ip_policies', policy.id, { description: 'changed' })
  const [toOne, toTwo] = [await world.admin.deliveriesTo(one.to), await world.admin.deliveriesTo(two.to)]
  const route = ({ subscription, type, attempt, outcome }: Delivery): unknown[] => [
    subscription,
    type,
    attempt,
    outcome,
  ]
  const created = (by: Resource): unknown[] => [by.id, 'ip_policy_created.v0', 1, 'delivered']
  expect(toOne.map(route)).toEqual([created(one), created(both)])
  expect(toTwo.map(route)).toEqual([created(two), created(both), [two.id, 'ip_policy_updated.v0', 1, 'delivered']])
  expect(new Set([...toOne, ...toTwo].map(({ event }) => event.event_id)).size).toBe(2)
  await world.api.remove(`/event_subscriptions/${both.id}`)
  await world.api.create('ip_policies', {})
  expect(await world.admin.deliveriesTo(one.to)).toHaveLength(3)
})

describe.each(allCollections)('$path', (row) => {
  test(stated('events.types'), async () => {
    const { to } = await subscribe(...allOf(row.eventName))
    const object = await world.api.create(row.path, (await fullBody(world, row)).body)
    const shown = await world.api.get(row.path, object.id)
    const updated = await world.api.update(row.path, object.id, (await updateBody(world, row)).body)
    await world.api.remove(`/${row.path}/${object.id}`)
    const told = about(await world.admin.deliveriesTo(to), object)
    expect(typesOf(told)).toEqual(allOf(row.eventName))
    expect(told.map(({ event }) => event.object)).toEqual([shown, updated, updated])
  })
})

test(stated('events.payload'), async () => {
  const { to } = await subscribe(...allOf('tcp_edge'))
  const { domain } = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
  const edge = await world.api.create('edges/tcp', { hostports: [`${domain}:443`] })
  const [{ event } = expect.fail('nothing was delivered')] = await world.admin.deliveriesTo(to)
  expect(event).toEqual({
    event_id: expect.stringMatching(/^ev_[0-9A-Za-z]{27}$/),
    event_type: 'tcp_edge_created.v0',
    event_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    object: edge,
  })
  expect(event.object.uri).toBe(`${world.url}/edges/tcp/${edge.id}`)
})

test(stated('events.no-secret'), async () => {
  const { to } = await subscribe(...allOf('api_key'), ...allOf('event_destination'))
  const key = await world.api.create('api_keys', {})
  await world.api.update('api_keys', key.id, { description: 'changed' })
  const target = { monitor: { api_key: 'first-secret-value' } }
  const destination = await world.api.create('event_destinations', { format: 'json', target })
  // The object looks the same afterwards, although it changed.
  await world.api.update('event_destinations', destination.id, {
    target: { monitor: { api_key: 'second-secret-value' } },
  })
  await world.api.remove(`/event_destinations/${destination.id}`)
  const told = await world.admin.deliveriesTo(to)
  expect(typesOf(told)).toEqual(['api_key_created.v0', 'api_key_updated.v0', ...allOf('event_destination')])
  const text = JSON.stringify(told)
  for (const secret of [String(key.token), 'first-secret-value', 'second-secret-value'])
    expect(text).not.toContain(secret)
})

/** Addresses below an object whose DELETE resets a field to null. */
const clearing = allCollections.flatMap((row) =>
  row.subResources
    .filter(({ path, methods }) => methods.includes('DELETE') && !path.includes('{'))
    .map((sub) => ({ row, ...sub })),
)

test.each(clearing)(`${stated('events.sub-resources')}: $id`, async ({ row, path, field, methods }) => {
  const { to } = await subscribe(...allOf(row.eventName))
  const setBy = row.fields.find(({ sent }) => sent?.shownAs === field) ?? expect.fail(`nothing sets ${field}`)
  const object = await createMinimal(world, row.path)
  const url = `/${row.path}/${object.id}/${path}`
  const { sent } = await sampleOf(world, row, setBy, 'second')
  if (methods.includes('PUT')) await world.api.object(200, 'PUT', url, sent as Record<string, unknown>)
  else await world.api.update(row.path, object.id, { [setBy.name]: sent })
  await world.api.remove(url)
  await world.api.remove(url)
  const told = about(await world.admin.deliveriesTo(to), object)
  const [created, updated] = allOf(row.eventName)
  expect(typesOf(told)).toEqual([created, updated, updated])
  expect(told.map(({ event }) => event.object[field] === null)).toEqual([true, false, true])
})

test(`${stated('events.sub-resources')}: the sources of a subscription`, async () => {
  const { to } = await subscribe(...allOf('event_subscription'))
  const subscription = await world.api.create('event_subscriptions', {})
  const url = `/event_subscriptions/${subscription.id}/sources`
  await world.api.object(201, 'POST', url, { type: 'ip_policy_created.v0' })
  expectRefusal(await world.api.call('POST', url, { body: { type: 'ip_policy_created.v0' } }), 409)
  await world.api.remove(`${url}/ip_policy_created.v0`)
  const told = about(await world.admin.deliveriesTo(to), subscription)
  const updated = 'event_subscription_updated.v0'
  expect(typesOf(told)).toEqual(['event_subscription_created.v0', updated, updated])
  expect(told.map(({ event }) => (event.object.sources as readonly unknown[]).length)).toEqual([0, 1, 0])
})

test(stated('events.cascade'), async () => {
  const { to } = await subscribe('ip_policy_deleted.v0', 'ip_policy_rule_deleted.v0')
  const policy = await world.api.create('ip_policies', {})
  const rule = (cidr: string): Promise<Resource> =>
    world.api.create('ip_policy_rules', { ip_policy_id: policy.id, cidr, action: 'allow' })
  const rules = [await rule('10.0.0.0/8'), await rule('192.0.2.0/24')]
  await world.api.remove(`/ip_policies/${policy.id}`)
  const told = await world.admin.deliveriesTo(to)
  expect(told.map(({ type, event }) => [type, event.object])).toEqual([
    ...rules.map((each) => ['ip_policy_rule_deleted.v0', each]),
    ['ip_policy_deleted.v0', policy],
  ])
})

test(stated('events.unchanged'), async () => {
  const { to } = await subscribe(...allOf('reserved_domain'), ...allOf('tls_edge'))
  const domain = await world.api.create('reserved_domains', { domain: world.serviceDomain(), description: 'same' })
  for (const body of [{}, { description: 'same' }, { id: domain.id }, { certificate_id: null }]) {
    await world.api.update('reserved_domains', domain.id, body)
  }
  const bad = { description: 'other', certificate_id: 'cert_none' }
  expectRefusal(await world.api.call('PATCH', `/reserved_domains/${domain.id}`, { body: bad }), 400)
  expectRefusal(await world.api.call('POST', '/reserved_domains', { body: { domain: domain.domain } }), 409)
  const edge = await world.api.create('edges/tls', { hostports: [`${domain.domain}:443`] })
  expectRefusal(await world.api.call('DELETE', `/reserved_domains/${domain.id}`), 409)
  await world.api.remove(`/edges/tls/${edge.id}/mutual_tls`)
  expect(typesOf(await world.admin.deliveriesTo(to))).toEqual(['reserved_domain_created.v0', 'tls_edge_created.v0'])
})

test(stated('events.certificates'), async () => {
  const { to } = await subscribe('reserved_domain_updated.v0')
  const policy = { authority: 'letsencrypt', private_key_type: 'rsa' }
  const [begun, begunHere] = [await world.admin.now(), performance.now()]
  const domain = await world.api.create('reserved_domains', {
    domain: world.customDomain(),
    certificate_management_policy: policy,
  })
  await world.admin.advance(10)
  await world.admin.addDnsRecord({ name: String(domain.domain), type: 'CNAME', value: String(domain.cname_target) })
  await world.admin.advance(30)
  await world.admin.advance(61 * 86_400)
  const told = about(await world.admin.deliveriesTo(to), domain)
  const state = ({ event: { object } }: Delivery): unknown[] => {
    const status = object.certificate_management_status as Record<string, Record<string, unknown> | null>
    return [object.certificate !== null, status.provisioning_job?.error_code ?? status.provisioning_job]
  }
  expect(told.map(state)).toEqual([
    [false, 'DNS_ERROR'],
    [true, null],
    [true, expect.objectContaining({ started_at: expect.any(String) })],
    [true, null],
  ])
  // The emulator's clock advances by itself as well, however slow the machine is.
  const passed = (performance.now() - begunHere) / 1000
  const seconds = told.map(({ event }) => (Date.parse(event.event_timestamp) - begun) / 1000)
  const day = 86_400
  for (const [index, after] of [10, 40, 40 + 60 * day, 50 + 60 * day].entries()) {
    expect(seconds[index]).toBeGreaterThan(after - 2)
    expect(seconds[index]).toBeLessThan(after + 2 + passed)
  }
  expect(told.at(-1)?.event.object.uri).toBe(domain.uri)
})

test(stated('events.subscription-as-it-stands'), async () => {
  const subscription = await subscribe(...allOf('event_subscription'))
  const update = (body: Record<string, unknown>): Promise<Resource> =>
    world.api.update('event_subscriptions', subscription.id, body)
  await update({ description: 'told of' })
  const sources = [{ type: 'event_subscription_updated.v0' }]
  await update({ sources })
  await update({ sources: [] })
  await world.api.remove(`/event_subscriptions/${subscription.id}`)
  const told = about(await world.admin.deliveriesTo(subscription.to), subscription)
  const updated = 'event_subscription_updated.v0'
  expect(typesOf(told)).toEqual(['event_subscription_created.v0', updated, updated])
})

test('events of one account reach no destination of another', async () => {
  const { to } = await subscribe('ip_policy_created.v0')
  const stranger = new ApiClient(world.url, await world.admin.seedAccount('other'))
  await stranger.create('ip_policies', {})
  expect(await world.admin.deliveriesTo(to)).toEqual([])
})
