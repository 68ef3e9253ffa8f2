import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, type Resource, refTo } from '../builders/contract/api-client.ts'
import { fullBody, sampleOf } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { collectionAt, fieldOf } from './facts/all.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const edgeKinds = ['edges/tcp', 'edges/tls'].map((path) => {
  const row = collectionAt(path)
  const modules = row.subResources.map((sub) => sub.field)
  return { path, row, modules }
})
const tls = 'edges/tls'

const backend = (): Promise<Resource> => world.api.create('backends/http_response', {})
const unknownBackend = `bkdhr_${'0'.repeat(27)}`

describe.each(edgeKinds)('$path', ({ path, row, modules }) => {
  test(stated('edges.absent-module-unchanged'), async () => {
    const { id } = await world.api.create(path, (await fullBody(world, row)).body)
    const before = await world.api.get(path, id)
    const after = await world.api.update(path, id, { description: 'changed', hostports: [] })
    for (const name of modules) expect(after[name], name).toEqual(before[name])
  })

  test.each(modules)(`${stated('edges.module-null-refused')}: %s`, async (name) => {
    const { id } = await world.api.create(path, (await fullBody(world, row)).body)
    const before = await world.api.get(path, id)
    expectRefusal(await world.api.call('PATCH', `/${path}/${id}`, { body: { [name]: null } }), 400, name)
    expect(await world.api.get(path, id)).toEqual(before)
  })

  test.each(modules)(`${stated('edges.enabled-by-default')}: %s`, async (name) => {
    const { sent } = await sampleOf(world, row, fieldOf(row, name), 'second')
    const { enabled: _left, ...rest } = sent as { enabled: boolean }
    const created = await world.api.create(path, { [name]: rest })
    expect(created[name]).toMatchObject({ enabled: true })
  })

  test(stated('edges.disabled-alone'), async () => {
    const expected: Readonly<Record<string, unknown>> = {
      backend: { enabled: false, backend: null },
      ip_restriction: { enabled: false, ip_policies: [] },
      mutual_tls: { enabled: false, certificate_authorities: [] },
      tls_termination: { enabled: false, terminate_at: 'edge', min_version: null },
      policy: { enabled: false, inbound: [], outbound: [] },
    }
    const body = Object.fromEntries(modules.map((name) => [name, { enabled: false }]))
    const shown = Object.fromEntries(modules.map((name) => [name, expected[name]]))
    expect(await world.api.create(path, body)).toMatchObject(shown)
    const { id } = await world.api.create(path, (await fullBody(world, row)).body)
    expect(await world.api.update(path, id, body)).toMatchObject(shown)
  })

  test(stated('edges.present-module-replaced'), async () => {
    const [policy, other] = [await world.api.create('ip_policies', {}), await world.api.create('ip_policies', {})]
    const { id } = await world.api.create(path, {
      ip_restriction: { enabled: false, ip_policy_ids: [policy.id, other.id] },
      policy: { enabled: false, inbound: [{ name: 'in' }], outbound: [{ name: 'out' }] },
    })
    const after = await world.api.update(path, id, {
      ip_restriction: { ip_policy_ids: [other.id] },
      policy: { outbound: [{ name: 'new' }] },
    })
    // Fields missing in the new value are not taken from the old one.
    expect(after.ip_restriction).toEqual({ enabled: true, ip_policies: [refTo(other)] })
    expect(after.policy).toMatchObject({ enabled: true, inbound: [], outbound: [{ name: 'new' }] })
  })

  test(stated('edges.unknown-reference'), async () => {
    const policy = await world.api.create('ip_policies', {})
    const bodies: readonly (readonly [string, string, Record<string, unknown>])[] = [
      ['backend', unknownBackend, { backend: { backend_id: unknownBackend } }],
      // The id of an object of another collection names no backend.
      ['backend', policy.id, { backend: { backend_id: policy.id } }],
      ['ip_restriction', 'ipp_none', { ip_restriction: { ip_policy_ids: [policy.id, 'ipp_none'] } }],
      ...(path === tls
        ? [['mutual_tls', 'ca_none', { mutual_tls: { certificate_authority_ids: ['ca_none'] } }] as const]
        : []),
    ]
    const { id } = await world.api.create(path, {})
    for (const [field, unknown, body] of bodies) {
      expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, field, unknown)
      expectRefusal(await world.api.call('PATCH', `/${path}/${id}`, { body }), 400, field, unknown)
    }
  })

  test(stated('edges.enabled-needs-reference'), async () => {
    const members: Readonly<Record<string, string>> = {
      backend: 'backend_id',
      ip_restriction: 'ip_policy_ids',
      mutual_tls: 'certificate_authority_ids',
    }
    for (const name of modules) {
      const member = members[name]
      if (member === undefined) continue
      for (const module of [{}, { enabled: true }, { enabled: true, [member]: name === 'backend' ? null : [] }]) {
        expectRefusal(await world.api.call('POST', `/${path}`, { body: { [name]: module } }), 400, name, member)
      }
    }
  })

  test(stated('edges.policy-lists'), async () => {
    const action = { type: 'log', config: {} }
    const created = await world.api.create(path, {
      policy: { inbound: { name: 'in', actions: action }, outbound: { name: 'out', actions: [action] } },
    })
    expect(created.policy).toMatchObject({
      inbound: [{ name: 'in', actions: [action] }],
      outbound: [{ name: 'out', actions: [action] }],
    })
  })

  test(stated('edges.policy-expressions'), async () => {
    const kept = ["conn.client_ip in ['192.0.2.1', '192.0.2.2']  &&  size(conn.server_name) > 3", 'true']
    const created = await world.api.create(path, { policy: { inbound: [{ expressions: kept }] } })
    expect(created.policy).toMatchObject({ inbound: [{ expressions: kept }] })
    for (const broken of ['conn.client_ip ==', '(true', "'open", '']) {
      const answer = await world.api.call('POST', `/${path}`, {
        body: { policy: { outbound: [{ expressions: ['true', broken] }] } },
      })
      // The refusal names the place: an offset, or line and column.
      expect(expectRefusal(answer, 400, 'expressions').msg).toMatch(/position \d+|\d+:\d+/)
    }
  })

  test(stated('edges.action-free'), async () => {
    const actions = [{ type: 'anything-at-all', config: { a: { b: [1, null, 'x', { c: true }] } } }]
    const created = await world.api.create(path, { policy: { inbound: [{ actions }] } })
    expect(created.policy).toMatchObject({ inbound: [{ actions }] })
  })
})

test(stated('edges.tcp-has-no-tls-modules'), async () => {
  const { id } = await world.api.create('edges/tcp', {})
  for (const name of ['mutual_tls', 'tls_termination']) {
    const body = { [name]: { enabled: false } }
    expectRefusal(await world.api.call('POST', '/edges/tcp', { body }), 400, name)
    expectRefusal(await world.api.call('PATCH', `/edges/tcp/${id}`, { body }), 400, name)
    expectRefusal(await world.api.call('GET', `/edges/tcp/${id}/${name}`), 404)
  }
})

describe('tls_termination', () => {
  const authorities = async (): Promise<Record<string, unknown>> => ({
    mutual_tls: { certificate_authority_ids: [await world.admin.seedCertificateAuthority('clients')] },
  })
  const trafficPolicy = { policy: { inbound: [{ name: 'in' }] } }
  const upstream = { tls_termination: { terminate_at: 'upstream' } }

  test(stated('edges.termination-defaults'), async () => {
    const created = await world.api.create(tls, { tls_termination: {} })
    expect(created.tls_termination).toEqual({ enabled: true, terminate_at: 'edge', min_version: null })
  })

  test(stated('edges.min-version-values'), async () => {
    for (const min_version of ['1.0', '1.1', '1.2', '1.3', 'tls1.2', 'TLSv1.3', null]) {
      const created = await world.api.create(tls, { tls_termination: { min_version } })
      expect(created.tls_termination).toMatchObject({ min_version })
    }
    for (const min_version of ['1.4', 'TLS', 'ssl3', '1']) {
      const answer = await world.api.call('POST', `/${tls}`, { body: { tls_termination: { min_version } } })
      expectRefusal(answer, 400, 'min_version')
    }
    const other = await world.api.call('POST', `/${tls}`, { body: { tls_termination: { terminate_at: 'agent' } } })
    expectRefusal(other, 400, 'terminate_at')
  })

  test(stated('edges.upstream-without-min-version'), async () => {
    const both = { tls_termination: { terminate_at: 'upstream', min_version: '1.2' } }
    expectRefusal(await world.api.call('POST', `/${tls}`, { body: both }), 400, 'min_version')
    const { id } = await world.api.create(tls, { tls_termination: { min_version: '1.2' } })
    expectRefusal(await world.api.call('PATCH', `/${tls}/${id}`, { body: both }), 400, 'min_version')
    // The module is replaced as a whole, so the old min_version does not stay next to the new value.
    expect((await world.api.update(tls, id, upstream)).tls_termination).toEqual({
      enabled: true,
      terminate_at: 'upstream',
      min_version: null,
    })
  })

  test(stated('edges.upstream-alone'), async () => {
    for (const other of [await authorities(), trafficPolicy]) {
      expectRefusal(await world.api.call('POST', `/${tls}`, { body: { ...upstream, ...other } }), 400)
      const first = await world.api.create(tls, upstream)
      expectRefusal(await world.api.call('PATCH', `/${tls}/${first.id}`, { body: other }), 400)
      const second = await world.api.create(tls, other)
      expectRefusal(await world.api.call('PATCH', `/${tls}/${second.id}`, { body: upstream }), 400)
      expectRefusal(
        await world.api.call('PUT', `/${tls}/${second.id}/tls_termination`, { body: upstream.tls_termination }),
        400,
      )
      expect(await world.api.get(tls, second.id)).toEqual(second)
    }
  })

  test('terminate_at upstream is accepted next to modules that are disabled, a backend and an IP restriction', async () => {
    const policy = await world.api.create('ip_policies', {})
    const created = await world.api.create(tls, {
      ...upstream,
      backend: { backend_id: (await backend()).id },
      ip_restriction: { ip_policy_ids: [policy.id] },
      mutual_tls: { enabled: false },
      policy: { enabled: false },
    })
    expect(created.tls_termination).toMatchObject({ terminate_at: 'upstream' })
  })
})
