import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient, type Method, type Resource } from '../builders/contract/api-client.ts'
import { Documentation, DocumentedClient, type DocumentedOperation } from '../builders/contract/openapi.ts'
import { createMinimal, fullBody, minimalBody, sampleOf, updateBody } from '../builders/contract/samples.ts'
import { wrongValues } from '../builders/contract/shapes.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { allCollections, createFields, responseFields, updateFields } from './facts/all.ts'
import type { CollectionFact, FieldFact } from './facts/facts.ts'

/** Every route of this file's emulators, as reported by fastify. */
const routes = new Set<string>()
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.add(`${each} ${url.replace(/:(\w+)/g, '{$1}')}`)
  })
})

let world: World
let documentation: Documentation
let client: DocumentedClient
beforeAll(async () => {
  world = await startWorld()
  documentation = await Documentation.of(world)
  client = new DocumentedClient(world.url, world.apiKey, documentation)
  // Objects that the samples need are created through the same client.
  Object.assign(world, { api: client })
})
afterAll(() => world.close())

const sorted = (names: Iterable<string>): readonly string[] => [...names].toSorted((a, b) => a.localeCompare(b))

interface Documented {
  readonly path: string
  readonly method: string
  readonly operation: DocumentedOperation
}

function operations(): readonly Documented[] {
  return Object.entries(documentation.document.paths).flatMap(([path, { parameters: _common, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

describe('the OpenAPI document', () => {
  test('names every operation that the server has, and no other', async () => {
    const documented = operations().map(({ path, method }) => `${method} ${path}`)
    const served: string[] = []
    // A route that only lists a path's methods is not an operation; HEAD belongs to GET.
    for (const route of routes) {
      const [method = '', path = ''] = route.split(' ')
      if (['HEAD', 'OPTIONS', '*'].includes(method) || path === '*') continue
      const admin = path.startsWith('/_emulator/')
      const caller = new ApiClient(world.url, admin ? world.adminToken : world.apiKey)
      const body = ['GET', 'DELETE'].includes(method) ? {} : { body: {} }
      const { status } = await caller.call(method as Method, path.replace(/\{\w+\}/g, 'none'), body)
      if (status !== 405) served.push(route)
    }
    expect(sorted(documented)).toEqual(sorted(served))
    expect(documented.length).toBeGreaterThan(100)
  })

  test('refers to nothing that it lacks, and every schema in it compiles', () => {
    const { document } = documentation
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)]
    for (const [, kind = '', name = ''] of references) {
      expect(document.components[kind as 'schemas'], `${kind}/${name}`).toHaveProperty(name)
    }
    for (const name of Object.keys(document.components.schemas)) {
      expect(() => documentation.faults({}, 'components', 'schemas', name), name).not.toThrow()
    }
    for (const { path, method, operation } of operations()) {
      const place = ['paths', path, method.toLowerCase()]
      const schema = ['content', 'application/json', 'schema']
      if (operation.requestBody) documentation.faults({}, ...place, 'requestBody', ...schema)
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (content) documentation.faults({}, ...place, 'responses', status, ...schema)
      }
    }
  })

  test('says of each operation what it needs: token, version, parameters of the path', () => {
    for (const { path, method, operation } of operations()) {
      const at = `${method} ${path}`
      const common = documentation.parameters(path)
      const named = (where: string): readonly string[] =>
        common.filter((each) => each.in === where).map(({ name }) => name)
      const admin = path.startsWith('/_emulator/')
      expect(named('path'), at).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      expect(named('header'), at).toEqual(admin ? [] : ['Service-Version'])
      expect(operation.security, at).toEqual(admin ? [{ adminToken: [] }] : undefined)
      expect(operation.summary, at).toMatch(/^[A-Z].{3}/)
      expect(Object.keys(operation.responses), at).toEqual(expect.arrayContaining(['400', '401', 'default']))
    }
  })

  test('names each version header when there are several, none of which alone is required', async () => {
    const other = await startWorld({ versionHeaders: ['Tunnel-Version'] })
    try {
      const headers = (await Documentation.of(other))
        .parameters('/ip_policies')
        .map(({ name, required }) => [name, required])
      expect(headers).toEqual([
        ['Service-Version', false],
        ['Tunnel-Version', false],
      ])
    } finally {
      await other.close()
    }
  })
})

type BodySchema = 'Create' | 'Update'

function schemaOf(row: CollectionFact, kind: BodySchema | ''): string {
  const words = row.eventName.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}${kind}`
}

const faultsOf = (row: CollectionFact, kind: BodySchema, body: unknown): readonly string[] =>
  documentation.faults(body, 'components', 'schemas', schemaOf(row, kind))

const namesOf = (fields: readonly FieldFact[]): readonly string[] => sorted(fields.map(({ name }) => name))

describe.each(allCollections)('the schemas of $path', (row) => {
  const shape = (kind: BodySchema | ''): { properties: Record<string, unknown>; required: readonly string[] } =>
    documentation.document.components.schemas[schemaOf(row, kind)] as never

  test('have the fields of the contract, mandatory where it says so', () => {
    const mandatory = createFields(row).filter(({ sent }) => sent?.create === 'mandatory')
    expect(sorted(Object.keys(shape('Create').properties))).toEqual(namesOf(createFields(row)))
    expect(sorted(shape('Create').required)).toEqual(namesOf(mandatory))
    expect(sorted(Object.keys(shape('Update').properties))).toEqual(sorted(['id', ...namesOf(updateFields(row))]))
    expect(shape('Update').required).toEqual([])
    expect(sorted(Object.keys(shape('').properties))).toEqual(namesOf(responseFields(row)))
  })

  test('take every sample', async () => {
    for (const body of [await minimalBody(world, row), await fullBody(world, row)]) {
      expect(faultsOf(row, 'Create', body.body)).toEqual([])
    }
    expect(faultsOf(row, 'Update', (await updateBody(world, row)).body)).toEqual([])
    for (const field of createFields(row)) {
      const { body } = await minimalBody(world, row)
      for (const variant of ['first', 'second'] as const) {
        const { sent } = await sampleOf(world, row, field, variant)
        expect(faultsOf(row, 'Create', { ...body, [field.name]: sent }), field.id).toEqual([])
      }
    }
  })

  test('take null where the contract does, and nowhere else', async () => {
    const { body } = await minimalBody(world, row)
    for (const { name, sent } of createFields(row)) {
      const faults = faultsOf(row, 'Create', { ...body, [name]: null })
      expect(faults.length === 0, name).toBe(sent?.create === 'optional')
    }
    for (const { name, sent } of updateFields(row)) {
      expect(faultsOf(row, 'Update', { [name]: null }).length === 0, name).toBe(sent?.whenNull === 'clears')
    }
  })

  test('refuse values of another type, texts over their limit and fields that are unknown', async () => {
    const { body } = await minimalBody(world, row)
    for (const { name, sent } of createFields(row)) {
      for (const wrong of wrongValues(sent?.shape)) {
        expect(faultsOf(row, 'Create', { ...body, [name]: wrong }), `${name}: ${JSON.stringify(wrong)}`).not.toEqual([])
      }
      if (sent?.shape.kind !== 'string' || sent.shape.limit === undefined) continue
      const { max } = sent.shape.limit
      expect(faultsOf(row, 'Create', { ...body, [name]: 'x'.repeat(max) })).toEqual([])
      expect(faultsOf(row, 'Create', { ...body, [name]: 'x'.repeat(max + 1) })).not.toEqual([])
    }
    expect(faultsOf(row, 'Create', { ...body, colour: 'blue' })).not.toEqual([])
    expect(faultsOf(row, 'Update', { colour: 'blue' })).not.toEqual([])
  })
})

describe.each(allCollections)('every answer in $path', (row) => {
  test('is as documented', async () => {
    client.misfits.length = 0
    const minimal = await createMinimal(world, row.path)
    const full = await client.create(row.path, (await fullBody(world, row)).body)
    await client.get(row.path, full.id)
    await client.update(row.path, full.id, (await updateBody(world, row)).body)
    await client.call('GET', `/${row.path}?limit=1`)
    await client.call('GET', `/${row.path}?limit=0`)
    await client.call('POST', `/${row.path}`, { body: { colour: 'blue' } })
    await client.call('PUT', `/${row.path}`, { body: {} })
    for (const object of [full, minimal]) await useSubResources(row, object)
    for (const object of [full, minimal]) await client.call('DELETE', `/${row.path}/${object.id}`)
    await client.call('GET', `/${row.path}/${full.id}`)
    await client.call('GET', `/${row.path}`, { headers: { Authorization: 'x' } })
    expect(client.misfits).toEqual([])
  })
})

async function useSubResources(row: CollectionFact, { id }: Resource): Promise<void> {
  for (const { path, field, methods } of row.subResources.toReversed()) {
    const url = `/${row.path}/${id}/${path.replace(/\{\w+\}/, 'tcp_edge_deleted.v0')}`
    const setBy = row.fields.find(({ sent }) => sent?.shownAs === field)
    for (const method of methods) {
      const sample = setBy && (await sampleOf(world, row, setBy, 'second')).sent
      if (method === 'PUT') await client.call('PUT', url, { body: sample })
      else if (method === 'POST') await client.call('POST', url, { body: { type: 'ip_policy_updated.v0' } })
      else await client.call(method, url)
    }
  }
}

test('every answer of the admin surface is as documented', async () => {
  const own = await startWorld()
  try {
    const admin = new DocumentedClient(own.url, own.adminToken, documentation)
    const call = (method: Method, path: string, body?: unknown): Promise<unknown> =>
      admin.call(method, `/_emulator${path}`, body === undefined ? {} : { body })
    const { id: to } = await createMinimal(own, 'event_destinations')
    const sources = [{ type: 'ip_policy_created.v0' }]
    await own.api.create('event_subscriptions', { sources, destination_ids: [to] })
    await own.api.create('ip_policies', {})
    for (const path of [
      '/journal',
      '/deliveries',
      '/snapshot',
      '/clock',
      '/dns',
      '/listeners',
      '/traffic',
      '/authority',
      '/openapi.json',
      '/deliveries?limit=x',
    ]) {
      await call('GET', path)
    }
    await call('POST', '/faults', { match: { path: '/ip_policies' }, act: { type: 'status', status: 503 } })
    await call('POST', '/faults', { type: 'certificate' })
    for (const path of ['/faults', '/faults/fault_1', '/faults/fault_1/wait?timeoutMs=1', '/faults/none']) {
      await call('GET', path)
    }
    await call('POST', '/faults/fault_1/release')
    for (const path of ['/faults/fault_1', '/faults', '/journal', '/deliveries', '/traffic', '/dns']) {
      await call('DELETE', path)
    }
    await call('POST', '/clock', { advanceSeconds: 1 })
    await call('PUT', '/dns', { name: 'a.example.com', type: 'A', value: '192.0.2.1' })
    const seeded = { objects: { ip_policies: [{}] }, accounts: [{}], apiKeys: [{}] }
    await call('POST', '/seed', { ...seeded, bulk: [{ collection: 'ip_policies', count: 1 }] })
    const { token } = await own.api.create('credentials', {})
    await call('POST', '/credentials/verify', { token })
    await call('POST', '/credentials/verify', { token: 'none' })
    const agent = { token, tunnels: [{ labels: { app: 'web' } }, { domain: 'app.example.org' }] }
    const agents = [await admin.object(201, 'POST', '/_emulator/agents', agent)]
    await call('POST', '/agents', { token: 'none' })
    await call('POST', '/agents/bulk', { agent, count: 2, disconnect: 1 })
    await call('POST', '/agents', agent)
    await call('GET', '/agents?limit=2')
    agents.push(...((await admin.object(200, 'GET', '/_emulator/agents')).agents as typeof agents))
    for (const { id } of agents) {
      await call('GET', `/agents/${id}`)
      await call('DELETE', `/agents/${id}`)
    }
    await call('POST', '/restore', JSON.parse((await admin.call('GET', '/_emulator/snapshot')).text))
    await call('POST', '/restore', {})
    await call('POST', '/reset')
    expect(admin.misfits).toEqual([])
    const documented = operations().filter(({ path }) => path.startsWith('/_emulator/'))
    expect(sorted(admin.calls)).toEqual(sorted(documented.map(({ path, method }) => `${method} ${path}`)))
  } finally {
    await own.close()
  }
})

test('the bodies that the admin surface reads are documented as it reads them', () => {
  const faults = (path: string, body: unknown): readonly string[] => {
    const place = ['paths', `/_emulator${path}`, 'post', 'requestBody', 'content', 'application/json', 'schema']
    return documentation.faults(body, ...place)
  }
  expect(faults('/faults', { match: { path: '/x', nth: 2 }, act: { type: 'hang', when: 'after' } })).toEqual([])
  expect(faults('/faults', { type: 'certificate', domain: 'a.example.com', times: 3 })).toEqual([])
  expect(faults('/faults', { act: { type: 'delay' } })).not.toEqual([])
  expect(faults('/faults', { act: { type: 'explode' } })).not.toEqual([])
  expect(faults('/seed', { objects: { ip_policies: [{ id: 'ipp_1' }] } })).toEqual([])
  expect(faults('/seed', { colour: 'blue' })).not.toEqual([])
  expect(faults('/clock', { advanceSeconds: 1.5 })).not.toEqual([])
})
