import { expect, test } from 'vitest'
import type { CustomResource } from '../../../src/managed/cr.ts'
import { urgencyOf } from '../../../src/managed/urgency.ts'

const metadata = { name: 'shop', namespace: 'team', uid: 'u1', resourceVersion: '1' }
const cr: CustomResource = { apiVersion: 'culvert.dev/v1alpha1', kind: 'Backend', metadata, spec: {} }
const made: CustomResource = { ...cr, status: { id: 'bkdtg_1' } }

test('what has no object yet waits behind what has one', () => {
  expect(urgencyOf(cr, 'edit')).toBe('create')
  expect(urgencyOf(made, 'edit')).toBe('edit')
})

test('taking something away is an edit, whether or not there is an object', () => {
  const deleted = { ...cr, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  expect(urgencyOf(deleted, 'edit')).toBe('edit')
})

test('what is not urgent stays so', () => {
  for (const lane of ['poll', 'drift'] as const)
    expect([cr, made].map((each) => urgencyOf(each, lane))).toEqual([lane, lane])
})

test('of what is not known the word of the caller counts', () => {
  expect(urgencyOf(undefined, 'edit')).toBe('edit')
})
