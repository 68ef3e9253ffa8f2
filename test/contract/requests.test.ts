import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiErrorBody, expectRefusal, type Method } from '../builders/contract/api-client.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const json = 'application/json'
const mebibyte = 1024 * 1024

test(stated('body.empty-json-on-bodyless-methods'), async () => {
  const { id } = await world.api.create('ip_policies', {})
  const headers = { 'Content-Type': json }
  expect((await world.api.call('GET', `/ip_policies/${id}`, { headers })).status).toBe(200)
  expect((await world.api.call('DELETE', `/ip_policies/${id}`, { headers })).status).toBe(204)
})

test(stated('body.not-json'), async () => {
  const { id } = await world.api.create('ip_policies', {})
  for (const body of ['{', '{"description":}', 'description=x', '{"a":1} x', "{'a':1}"]) {
    expectRefusal(await world.api.call('POST', '/ip_policies', { body }), 400)
    expectRefusal(await world.api.call('PATCH', `/ip_policies/${id}`, { body }), 400)
  }
})

test(stated('body.not-an-object'), async () => {
  for (const body of ['[]', '"text"', '7', 'null', 'true']) {
    expectRefusal(await world.api.call('POST', '/ip_policies', { body }), 400)
  }
})

test(stated('body.too-large'), async () => {
  const overhead = JSON.stringify({ body: '' }).length
  const path = '/backends/http_response'
  const under = await world.api.call('POST', path, { body: { body: 'x'.repeat(mebibyte - overhead) } })
  expect(under.status).toBe(201)
  expectRefusal(await world.api.call('POST', path, { body: { body: 'x'.repeat(mebibyte - overhead + 1) } }), 413)
})

test(stated('body.other-content-type'), async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
    const answer = await world.api.call('POST', '/ip_policies', { body: '{}', headers: { 'Content-Type': type } })
    expectRefusal(answer, 415)
  }
  const charset = await world.api.call('POST', '/ip_policies', {
    body: {},
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
  })
  expect(charset.status).toBe(201)
})

/** One request for each kind of refusal. */
const refusals: readonly (readonly [string, number, Method, string, Parameters<World['api']['call']>[2]])[] = [
  ['a bad value', 400, 'POST', '/ip_policies', { body: { description: 7 } }],
  ['no token', 401, 'GET', '/ip_policies', { headers: { Authorization: undefined } }],
  ['no version', 400, 'GET', '/ip_policies', { headers: { 'Service-Version': undefined } }],
  ['an unknown id', 404, 'GET', `/ip_policies/ipp_${'0'.repeat(27)}`, {}],
  ['an unknown route', 404, 'GET', '/nothing/here', {}],
  ['a path that is not well encoded', 400, 'GET', '/ip_policies/%E0%A4%A', {}],
  ['a method that a path has not', 405, 'PUT', '/ip_policies', { body: {} }],
  ['a body too large', 413, 'POST', '/ip_policies', { body: { metadata: 'x'.repeat(mebibyte) } }],
  ['another content type', 415, 'POST', '/ip_policies', { body: 'x', headers: { 'Content-Type': 'text/plain' } }],
]

test.each(refusals)(`${stated('errors.body')}: %s`, async (_why, status, method, path, options) => {
  expectRefusal(await world.api.call(method, path, options), status)
})

test(stated('errors.operation-id'), async () => {
  const seen: ApiErrorBody[] = []
  for (let call = 0; call < 20; call += 1) seen.push(expectRefusal(await world.api.call('GET', '/nothing'), 404))
  expect(new Set(seen.map((error) => error.details.operation_id)).size).toBe(20)
})

test('a 405 says which methods the path has', async () => {
  const answer = await world.api.call('PUT', '/ip_policies', { body: {} })
  expect(answer.headers.get('allow')).toMatch(/\bGET\b/)
  expect(answer.headers.get('allow')).toMatch(/\bPOST\b/)
})

test('__proto__ and other odd names are judged as unknown fields', async () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']) {
    const body = `{${JSON.stringify(name)}: {"description": "x"}}`
    expectRefusal(await world.api.call('POST', '/ip_policies', { body }), 400, name)
  }
})
