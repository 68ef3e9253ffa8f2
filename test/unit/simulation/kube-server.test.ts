import { beforeEach, expect, test } from 'vitest'
import { ModelKube } from '../../builders/model-kube.ts'
import type { WireAnswer } from '../../faults/simulation/faults.ts'
import { KubeServer } from '../../faults/simulation/kube-server.ts'
import type { WireStream } from '../../faults/simulation/network.ts'
import { VirtualTime } from '../../faults/simulation/virtual-time.ts'

const type = { group: 'culvert.dev', version: 'v1alpha1', plural: 'edges', kind: 'Edge', namespaced: true }
const secrets = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true }
const schema = { type: 'object', properties: { spec: { type: 'object', properties: { mode: { default: 'open' } } } } }
const ALL = '/apis/culvert.dev/v1alpha1/namespaces/shop/edges'
const ONE = `${ALL}/web`

let time: VirtualTime
let server: KubeServer

beforeEach(() => {
  time = new VirtualTime()
  server = new KubeServer(new ModelKube(), time, [{ type, schema: schema as never }, { type: secrets }])
})

interface Answered {
  readonly code: number
  readonly body: {
    readonly reason?: string
    readonly kind?: string
    readonly metadata: Readonly<Record<string, unknown>>
    readonly [field: string]: unknown
  }
}

function ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Answered {
  const sent = body === undefined ? '' : JSON.stringify(body)
  const { status: code, body: text } = server.answer({ method, path, headers, body: sent }) as WireAnswer
  return { code, body: JSON.parse(text) as Answered['body'] }
}

/** Opens a watch. Lines are added as they arrive. */
function watch(query: string, headers: Readonly<Record<string, string>> = {}) {
  const stream = server.answer({ method: 'GET', path: `${ALL}?watch=1&${query}`, headers, body: '' }) as WireStream
  const lines: Record<string, unknown>[] = []
  let hasEnded = false
  const stop = stream.follow(
    (text) => lines.push(JSON.parse(text) as Record<string, unknown>),
    () => {
      hasEnded = true
    },
  )
  return { types: () => lines.map((line) => line.type), lines, stop, hasEnded: () => hasEnded }
}

const make = (name = 'web', spec = {}): Answered => ask('POST', ALL, { metadata: { name }, spec })

test('what is made is answered with 201, a version, a uid, the first generation and the defaults of its schema', () => {
  const { code, body } = make()
  expect([code, body.spec]).toEqual([201, { mode: 'open' }])
  expect(body.metadata).toMatchObject({ name: 'web', namespace: 'shop', generation: 1, uid: expect.any(String) })
  expect(make()).toMatchObject({ code: 409, body: { kind: 'Status', reason: 'AlreadyExists' } })
})

test('what is not there is answered with 404', () => {
  for (const method of ['GET', 'DELETE'])
    expect(ask(method, ONE)).toMatchObject({ code: 404, body: { reason: 'NotFound' } })
  expect(ask('PATCH', ONE, {})).toMatchObject({ code: 404 })
  expect(ask('GET', '/apis/culvert.dev/v1/unknown')).toMatchObject({ code: 404 })
})

test('a patch at another version or uid is a conflict, and changes nothing', () => {
  const { metadata } = make().body
  const { code, body } = ask('PATCH', ONE, {
    spec: { mode: 'shut' },
    metadata: { resourceVersion: metadata.resourceVersion },
  })
  expect([code, body.metadata.generation]).toEqual([200, 2])
  const late = { spec: { mode: 'late' }, metadata: { resourceVersion: metadata.resourceVersion } }
  expect(ask('PATCH', ONE, late)).toMatchObject({ code: 409, body: { reason: 'Conflict' } })
  expect(ask('PATCH', ONE, { spec: { mode: 'late' }, metadata: { uid: 'other' } })).toMatchObject({ code: 409 })
  expect(ask('DELETE', ONE, { preconditions: { uid: 'other' } })).toMatchObject({ code: 409 })
  expect(ask('GET', ONE).body.spec).toEqual({ mode: 'shut' })
})

test('a patch that changes nothing makes no version, and nobody is notified', () => {
  const { metadata } = make('web', { mode: 'open' }).body
  const open = watch(`resourceVersion=${metadata.resourceVersion}`)
  expect(ask('PATCH', ONE, { spec: { mode: 'open' } }).body.metadata.resourceVersion).toBe(metadata.resourceVersion)
  expect(open.types()).toEqual([])
})

test('the status is written at its own path alone, and is no new generation', () => {
  make()
  ask('PATCH', ONE, { status: { id: 'no' }, metadata: { labels: { a: 'b' } } })
  const { body } = ask('PATCH', `${ONE}/status`, { status: { id: 'yes' }, spec: { mode: 'shut' } })
  expect(body).toMatchObject({ spec: { mode: 'open' }, status: { id: 'yes' }, metadata: { generation: 1 } })
})

test('a deletion waits for finalizers as a generation of its own, and the last of them ends it', () => {
  make()
  ask('PATCH', ONE, { metadata: { finalizers: ['culvert.dev/remote'] } })
  const open = watch('resourceVersion=0')
  expect(ask('DELETE', ONE).code).toBe(200)
  const { metadata } = ask('GET', ONE).body
  expect(metadata).toMatchObject({
    generation: 2,
    deletionGracePeriodSeconds: 0,
    deletionTimestamp: expect.any(String),
  })
  expect(ask('PATCH', ONE, { metadata: { finalizers: [] } }).body.metadata.finalizers).toBeUndefined()
  expect(ask('GET', ONE).code).toBe(404)
  expect(open.types()).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
})

test('types without a spec count no generations', () => {
  const { body } = ask('POST', '/api/v1/namespaces/shop/secrets', { metadata: { name: 'key' }, data: { a: 'YQ==' } })
  expect(body.metadata.generation).toBeUndefined()
})

test('an apply makes what is not there, and changes what is', () => {
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  const codes = [1, 2].map(() => ask('PATCH', ONE, { metadata: { name: 'web' }, spec: {} }, headers).code)
  expect(codes).toEqual([201, 200])
})

test('a list tells the version up to which it is true, within a namespace, by name or by label', () => {
  make('one')
  const { metadata } = ask('POST', ALL, { metadata: { name: 'two', labels: { app: 'x' } } }).body
  ask('POST', ALL.replace('shop', 'other'), { metadata: { name: 'three' } })
  const names = (query: string): unknown =>
    (ask('GET', `${ALL}${query}`).body.items as Answered['body'][]).map((each) => each.metadata.name)
  expect(names('')).toEqual(['one', 'two'])
  expect(names('?labelSelector=app%3Dx')).toEqual(['two'])
  expect(names('?fieldSelector=metadata.name%3Done')).toEqual(['one'])
  const { items, ...list } = ask('GET', '/apis/culvert.dev/v1alpha1/edges').body
  expect(items).toHaveLength(3)
  expect(Number(list.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion))
})

test('who asks for metadata alone gets nothing else, from a list, a read and a watch', () => {
  const headers = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }
  make()
  const [item] = ask('GET', ALL, undefined, headers).body.items as readonly object[]
  const open = watch('resourceVersion=0', headers)
  for (const object of [item, ask('GET', ONE, undefined, headers).body, open.lines[0]?.object])
    expect(object).not.toHaveProperty('spec')
})

test('a watch tells what came after its version, and continues', () => {
  const { metadata } = make('one').body
  make('two')
  const open = watch(`resourceVersion=${metadata.resourceVersion}`)
  expect(open.types()).toEqual(['ADDED'])
  ask('DELETE', `${ALL}/two`)
  expect(open.types()).toEqual(['ADDED', 'DELETED'])
  open.stop()
  make('three')
  expect(open.types()).toEqual(['ADDED', 'DELETED'])
})

test('a watch by a field tells that an object comes when it gets the value, and goes when it loses it', () => {
  const { types } = watch('resourceVersion=0&fieldSelector=spec.mode%3Dopen')
  make('web', { mode: 'closed' })
  for (const mode of ['open', 'closed', 'open']) ask('PATCH', ONE, { spec: { mode } })
  ask('PATCH', ONE, { metadata: { labels: { seen: 'yes' } } })
  expect(types()).toEqual(['ADDED', 'DELETED', 'ADDED', 'MODIFIED'])
})

test('a watch from before the last compaction is refused with 410, one from there on is not', () => {
  const { metadata } = make('one').body
  const last = make('two').body.metadata.resourceVersion
  server.compact()
  const path = `${ALL}?watch=1&resourceVersion=`
  expect(ask('GET', `${path}${metadata.resourceVersion}`)).toMatchObject({ code: 410, body: { reason: 'Expired' } })
  expect(watch(`resourceVersion=${last}`).types()).toEqual([])
})

test('a watch tells its version in bookmarks, and ends when its time is over', async () => {
  const { metadata } = make().body
  const open = watch(`resourceVersion=${metadata.resourceVersion}&timeoutSeconds=90`)
  await time.advance(60_000)
  expect(open.lines).toMatchObject([
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: metadata.resourceVersion } } },
  ])
  expect(open.hasEnded()).toBe(false)
  await time.advance(30_000)
  expect(open.hasEnded()).toBe(true)
})
