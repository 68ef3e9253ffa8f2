import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import type { BackendSpec } from '../../../src/kinds/backend/backend-schema.ts'
import { backend } from '../../../src/kinds/backend.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

test('a backend lives in the collection of its type', () => {
  const types: readonly BackendSpec['type'][] = ['TunnelGroup', 'HTTPResponse', 'Weighted', 'Failover']
  expect(types.map((type) => backend.identity.collectionOf({ type }).path)).toEqual([
    'backends/tunnel_group',
    'backends/http_response',
    'backends/weighted',
    'backends/failover',
  ])
})

test('children are sent by id, with weights or in order', () => {
  const weighted = {
    backendRefs: [
      { name: 'a', weight: 3 },
      { id: 'bkdtg_1', weight: 0 },
    ],
  }
  const failover = { backendRefs: [{ name: 'b' }, { name: 'a' }] }
  expect(backend.fields.desire(desiredOf<BackendSpec>({ spec: { type: 'Weighted', weighted } }), undefined)).toEqual({
    backends: { 'id-of-a': 3, bkdtg_1: 0 },
  })
  expect(backend.fields.desire(desiredOf<BackendSpec>({ spec: { type: 'Failover', failover } }), undefined)).toEqual({
    backends: ['id-of-b', 'id-of-a'],
  })
})

test('the order of a failover backend counts', () => {
  const spec: BackendSpec = { type: 'Failover', failover: { backendRefs: [{ id: 'b' }, { id: 'a' }] } }
  expect(backend.fields.comparable(backend.fields.desire(desiredOf({ spec }), undefined)).backends).toEqual(['b', 'a'])
  for (const backends of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    expect(backend.fields.comparable(backend.fields.observe({ id: 'x', backends })).backends).toEqual(backends)
  }
})

test('children are found in a remote object of either form', () => {
  const idsIn = backend.references.kinds[0]?.idsIn
  expect(idsIn?.({ id: 'x', backends: { a: 1, b: 2 } })).toEqual(['a', 'b'])
  expect(idsIn?.({ id: 'x', backends: ['b', 'a'] })).toEqual(['b', 'a'])
  expect(idsIn?.({ id: 'x', labels: {} })).toEqual([])
})

test('names of headers are sent as they are written and compared without their case', () => {
  const spec: BackendSpec = { type: 'HTTPResponse', httpResponse: { headers: { 'Content-Type': 'text/plain' } } }
  const sent = backend.fields.desire(desiredOf({ spec }), undefined)
  expect(sent.headers).toEqual({ 'Content-Type': 'text/plain' })
  expect(backend.fields.comparable(sent).headers).toEqual({ 'content-type': 'text/plain' })
  expect(backend.fields.observe({ id: 'x', headers: null }).headers).toEqual({})
})

test('headers that differ only in case, and names that are none, are problems that say which', () => {
  const problems = backend.problems({
    type: 'HTTPResponse',
    httpResponse: { headers: { 'X-A': '1', 'x-a': '2', 'not a name': '3' } },
  })
  expect(problems).toHaveLength(2)
  expect(problems[0]).toContain('"not a name"')
  expect(problems[1]).toContain('x-a')
})

describe('the status', () => {
  const tunnels = [
    { id: 'tn_2', uri: '' },
    { id: 'tn_1', uri: '' },
  ]
  const online = (remote: RemoteObject) => backend.status.readiness({ spec: group, remote, now: 0 })
  const group = { type: 'TunnelGroup' } as const

  test('has the labels of a group, and its online tunnels in a fixed order', () => {
    expect(backend.status.shown({ id: 'x', labels: { app: 'shop' }, tunnels }, {}, group)).toEqual({
      labels: { app: 'shop' },
      tunnelCount: 2,
      tunnels: ['tn_1', 'tn_2'],
    })
  })

  test('says by a condition whether any is online, and a group is Ready without one', () => {
    const told = (remote: RemoteObject) => online(remote).conditions?.map(({ status, reason }) => [status, reason])
    expect(told({ id: 'x', tunnels })).toEqual([['True', 'TunnelsOnline']])
    expect(told({ id: 'x', tunnels: [] })).toEqual([['False', 'NoTunnels']])
    expect(online({ id: 'x', tunnels: [] })).toMatchObject({ ready: true })
  })

  test('has no tunnels where the API shows none, as null or not at all', () => {
    for (const tunnels of [undefined, null, []]) {
      const remote = { id: 'x', tunnels }
      expect(online(remote).conditions).toMatchObject([{ status: 'False', reason: 'NoTunnels' }])
      expect(backend.status.shown(remote, {}, group)).toMatchObject({ tunnelCount: 0, tunnels: [] })
    }
  })

  test('says nothing of tunnels of another type', () => {
    const spec = { type: 'HTTPResponse', httpResponse: {} } as const
    expect(backend.status.readiness({ spec, remote: { id: 'x' }, now: 0 }).conditions).toEqual([])
    expect(backend.status.shown({ id: 'x' }, {}, spec)).toEqual({})
  })

  test('has the weights of a weighted backend, and the order of a failover', () => {
    expect(backend.status.shown({ id: 'x', backends: { b: 10, a: 90 } }, {}, { type: 'Weighted' })).toEqual({
      backends: [
        { id: 'a', weight: 90 },
        { id: 'b', weight: 10 },
      ],
    })
    expect(backend.status.shown({ id: 'x', backends: ['b', 'a'] }, {}, { type: 'Failover' })).toEqual({
      backends: [{ id: 'b' }, { id: 'a' }],
    })
  })
})
