import { afterEach, beforeEach, expect, test } from 'vitest'
import { runLeftovers } from '../../../src/cli/leftovers-command.ts'
import {
  type FakeKubeServer,
  sendJson,
  sendList,
  sendStatus,
  startFakeKubeServer,
} from '../../builders/fake-kube-server.ts'

const held = { finalizers: ['culvert.dev/remote'] }
let server: FakeKubeServer
let objects: Readonly<Record<string, readonly object[]>>
let lines: string[]

beforeEach(async () => {
  objects = {}
  lines = []
  server = await startFakeKubeServer(({ path }, response) => {
    const plural = path.split('/').at(-1) ?? ''
    if (path === '/apis/culvert.dev/v1alpha1') sendJson(response, 200, { resources: [{ name: 'backends' }] })
    else if (plural === 'edges') response.writeHead(404).end('404 page not found')
    else sendList(response, '1', objects[path.replace('/apis/culvert.dev/v1alpha1/', '')] ?? [])
  })
})

afterEach(() => server[Symbol.asyncDispose]())

const run = (namespaces: readonly string[] = [], allow = false): Promise<number> =>
  runLeftovers({ connection: server.connection, namespaces, allow, print: (line) => lines.push(line) })

test('nothing is left where nothing carries the finalizer', async () => {
  objects = { backends: [{ metadata: { namespace: 'shop', name: 'web', finalizers: ['example.com/other'] } }] }
  expect(await run()).toBe(0)
  expect(lines).toEqual(['No resource needs an operator to be deleted.'])
})

test('what carries the finalizer is named by kind, ten of each, and is a failure', async () => {
  const backends = Array.from({ length: 12 }, (_, index) => ({
    metadata: { namespace: 'shop', name: `b${index}`, ...held },
  }))
  objects = { backends, clusteraccounts: [{ metadata: { name: 'default', ...held } }] }
  expect(await run()).toBe(1)
  expect(lines).toContain('ClusterAccount: default')
  expect(lines.find((line) => line.startsWith('Backend: '))).toMatch(/^Backend: shop\/b0, .*, shop\/b9 and 2 more$/)
  expect(lines.join('\n')).toContain('these 13 cannot be deleted')
})

test('what is left is named and is no failure where that is allowed', async () => {
  objects = { backends: [{ metadata: { namespace: 'shop', name: 'web', ...held } }] }
  expect(await run([], true)).toBe(0)
  expect(lines).toContain('Backend: shop/web')
})

test('in namespaces nothing is asked about others, nor about the cluster', async () => {
  objects = { 'namespaces/web/backends': [{ metadata: { namespace: 'web', name: 'a', ...held } }] }
  expect(await run(['shop', 'web'])).toBe(1)
  expect(lines[0]).toBe('Backend: web/a')
  const outside = server.requests.filter(({ path }) => !/\/namespaces\/(shop|web)\/|\/v1alpha1$/.test(path))
  expect(outside).toEqual([])
})

test('it lists metadata and does nothing else', async () => {
  await run()
  expect(server.requests.length).toBeGreaterThan(15)
  for (const { method, path, headers } of server.requests) {
    expect(method).toBe('GET')
    if (path !== '/apis/culvert.dev/v1alpha1') expect(headers.accept).toContain('PartialObjectMetadataList')
  }
})

test('what something on the way answers 404 is no all-clear', async () => {
  server.handle((_request, response) => void response.writeHead(404).end('default backend - 404'))
  expect(await run([], true)).toBe(1)
  expect(lines).toEqual([expect.stringContaining('other than the API server')])
})

test('what may not be looked at is reported, and is no all-clear even where leftovers are allowed', async () => {
  server.handle((_request, response) => sendStatus(response, 403, 'Forbidden', 'you may not'))
  expect(await run([], true)).toBe(1)
  expect(lines).toEqual([expect.stringContaining('you may not')])
})
