import { expect, test } from 'vitest'
import { rowOf } from '../../../../src/cli/demo/state-table.ts'

const resource = { kind: 'Edge', namespace: 'quickstart', name: 'shop' }

function edge(generation: number, status?: unknown) {
  const metadata = { name: 'shop', namespace: 'quickstart', uid: 'u', resourceVersion: '1', generation }
  return { apiVersion: 'culvert.dev/v1alpha1', kind: 'Edge', metadata, ...(status === undefined ? {} : { status }) }
}

const available = { type: 'Ready', status: 'True', reason: 'Available', message: 'in place', observedGeneration: 2 }

test('a resource that was not seen, or has no status, is waiting', () => {
  const waiting = { kind: 'Edge', name: 'shop', id: '', state: 'Waiting', message: '', ready: false }
  expect(rowOf(resource, undefined)).toEqual(waiting)
  expect(rowOf(resource, edge(1))).toEqual(waiting)
})

test('id, reason and message come from the status', () => {
  const status = { id: 'edgtls_1', conditions: [{ ...available, type: 'Synced', reason: 'InSync' }, available] }
  expect(rowOf(resource, edge(2, status))).toEqual({
    kind: 'Edge',
    name: 'shop',
    id: 'edgtls_1',
    state: 'Available',
    message: 'in place',
    ready: true,
  })
})

test('a condition of an older spec does not make a resource Ready', () => {
  expect(rowOf(resource, edge(3, { id: 'edgtls_1', conditions: [available] }))).toMatchObject({
    id: 'edgtls_1',
    state: 'Waiting',
    ready: false,
  })
})
