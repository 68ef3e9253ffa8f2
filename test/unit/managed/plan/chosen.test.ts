import { expect, test } from 'vitest'
import type { RemoteObject } from '../../../../src/api/types.ts'
import type { BackendSpec } from '../../../../src/kinds/backend/backend-schema.ts'
import { backend } from '../../../../src/kinds/backend.ts'
import type { EdgeSpec } from '../../../../src/kinds/edge/edge-schema.ts'
import { edge } from '../../../../src/kinds/edge.ts'
import { keptText } from '../../../../src/managed/descriptor/metadata.ts'
import { digestOfChoice, isChosen } from '../../../../src/managed/plan/chosen.ts'
import { chosenByServer, type PlanContext, plan } from '../../../../src/managed/plan/plan.ts'
import { stored } from '../../../builders/kinds/api-model.ts'
import { desiredOf } from '../../../builders/kinds/desired.ts'

const desired = desiredOf<EdgeSpec>({ spec: { protocol: 'TLS', tlsTermination: {} } })
const quiet: PlanContext = { markedMetadata: 'marker', inputsChanged: false }
const shown = (min_version: string, terminate_at = 'edge') =>
  stored({ metadata: 'marker', tls_termination: { enabled: true, terminate_at, min_version } })

test.each([
  [
    { a: 1, b: null },
    { a: 1, b: 2 },
  ],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: { b: undefined } }, { a: { b: 'x', c: 'y' } }],
  [{ a: [] }, { a: [], b: null }],
  [{ a: [{ b: 1 }, 'x'] }, { a: [{ b: 1, c: 2 }, 'x'] }],
])('what is open in %j is filled in by %j', (sent, found) => {
  expect(isChosen(sent, found)).toBe(true)
})

test.each([
  [{ a: 1 }, { a: 2 }],
  [{ a: false }, {}],
  [{ a: '' }, { a: 'x' }],
  [{ a: [] }, { a: ['x'] }],
  [{ a: [{}] }, { a: [{}, {}] }],
  [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }],
  [{ a: { b: 1 } }, { a: null }],
  [null, { a: 1 }],
])('what is said by %j is not kept by %j', (sent, found) => {
  expect(isChosen(sent, found)).toBe(false)
})

test('a choice is named by what was sent and what came of it, whatever the order of members', () => {
  const digest = digestOfChoice({ a: 1, b: null }, { a: 1, b: 2 })
  expect(digestOfChoice({ b: null, a: 1 }, { b: 2, a: 1, c: undefined })).toBe(digest)
  expect(digestOfChoice({ a: 1, b: null }, { a: 1, b: 3 })).not.toBe(digest)
  expect(digestOfChoice({ a: 2, b: null }, { a: 1, b: 2 })).not.toBe(digest)
})

test.each(['1.1', '1.0', 'tls1.2', 'TLSv1.3'])(
  'the lowest version %s that the service has chosen is no drift',
  (version) => {
    const remote = shown(version)
    const chosen = chosenByServer(edge, desired, remote)
    expect(chosen).toHaveProperty('tls_termination')
    expect(plan(edge, desired, { remote, children: [] }, { ...quiet, chosen })).toEqual([])
  },
)

test('what the service fills into the rules of a policy is no drift; another type or rule is', () => {
  const inbound = [{ expressions: ['true'], actions: [{ type: 'deny' }] }]
  const wanted = desiredOf<EdgeSpec>({ spec: { protocol: 'TCP', trafficPolicy: { inbound } } })
  const remoteWith = (type: string, more: readonly unknown[] = []) => {
    const rule = { name: 'rule', expressions: ['true'], actions: [{ type, config: { status: 403 } }] }
    return stored({ metadata: 'marker', policy: { enabled: true, inbound: [rule, ...more], outbound: null } })
  }
  const chosen = chosenByServer(edge, wanted, remoteWith('deny'))
  expect(chosen).toHaveProperty('policy')
  const planned = (remote: RemoteObject) => plan(edge, wanted, { remote, children: [] }, { ...quiet, chosen })
  expect(planned(remoteWith('deny'))).toEqual([])
  expect(planned(remoteWith('allow'))).toHaveLength(1)
  expect(chosenByServer(edge, wanted, remoteWith('allow'))).toBeUndefined()
  expect(chosenByServer(edge, wanted, remoteWith('deny', [{}]))).toBeUndefined()
})

test('a header that the service adds to a response is no drift', () => {
  const spec: BackendSpec = { type: 'HTTPResponse', httpResponse: { headers: { 'X-A': '1' } } }
  const wanted = desiredOf<BackendSpec>({ spec })
  const remote = stored({ metadata: 'marker', status_code: 200, headers: { 'x-a': '1', 'content-type': 'text/plain' } })
  const chosen = chosenByServer(backend, wanted, remote)
  expect(plan(backend, wanted, { remote, children: [] }, { ...quiet, chosen })).toEqual([])
  const changed = { ...remote, headers: { 'x-a': '2', 'content-type': 'text/plain' } }
  expect(plan(backend, wanted, { remote: changed, children: [] }, { ...quiet, chosen })).toHaveLength(1)
})

test('another version than the chosen one is drift, and so is the chosen one where the spec names another', () => {
  const chosen = chosenByServer(edge, desired, shown('1.1'))
  const update = expect.objectContaining({ fields: ['tls_termination'] })
  const planned = (wanted: typeof desired, version: string) =>
    plan(edge, wanted, { remote: shown(version), children: [] }, { ...quiet, chosen })
  expect(planned(desired, '1.0')).toEqual([update])
  const named = desiredOf<EdgeSpec>({ spec: { protocol: 'TLS', tlsTermination: { minVersion: '1.2' } } })
  expect(planned(named, '1.1')).toEqual([update])
})

test('what the service did not do is none of its choices, nor is a field that no spec leaves open', () => {
  expect(chosenByServer(edge, desired, shown('1.2', 'upstream'))).toBeUndefined()
  const more = stored({ metadata: 'marker', hostports: ['a.example.com:443'] })
  expect(chosenByServer(edge, desiredOf<EdgeSpec>({ spec: { protocol: 'TCP' } }), more)).toBeUndefined()
})

test('a text that a service has trimmed is not sent again; any other difference is', () => {
  expect(keptText('  office\n', 'office')).toBe('office')
  expect(keptText('office', ' office')).toBe('office')
  expect(keptText(' office', '')).toBe(' office')
  expect(keptText('office', 'the office')).toBe('office')
})
