import { expect, test } from 'vitest'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { priorityOf } from '../../../../src/managed/reconcile/priority.ts'

const metadata = { name: 'shop', namespace: 'team', uid: 'u1', resourceVersion: '1' }
const cr: CustomResource = { apiVersion: 'culvert.dev/v1alpha1', kind: 'Backend', metadata, spec: {} }
const made: CustomResource = { ...cr, status: { id: 'bkdtg_1' } }

test('what has no object yet waits behind what has one', () => {
  expect(priorityOf(cr, 'edit')).toBe('create')
  expect(priorityOf(made, 'edit')).toBe('edit')
})

test('taking something away is an edit, whether or not there is an object', () => {
  const deleted = { ...cr, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  expect(priorityOf(deleted, 'edit')).toBe('edit')
})

test('what is not urgent stays so', () => {
  for (const priority of ['poll', 'drift'] as const)
    expect([cr, made].map((each) => priorityOf(each, priority))).toEqual([priority, priority])
})

test('of what is not known the word of the caller counts', () => {
  expect(priorityOf(undefined, 'edit')).toBe('edit')
})
