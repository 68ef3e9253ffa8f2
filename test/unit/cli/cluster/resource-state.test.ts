import { describe, expect, test } from 'vitest'
import { isAtRest, type StatedResource, stateOf } from '../../../../src/cli/cluster/resource-state.ts'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import { type ConditionState, conditionsFor, stampConditions } from '../../../../src/managed/run/conditions.ts'

const NOW = Date.parse('2026-11-24T10:00:00Z')
const LATER = Date.parse('2026-11-24T10:05:00Z')

interface Given {
  readonly conditions?: readonly Condition[]
  readonly observed?: number
  readonly metadata?: Partial<StatedResource['metadata']>
}

function edge({ conditions = [], observed = 2, metadata = {} }: Given): StatedResource {
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'Edge',
    metadata: {
      name: 'shop',
      namespace: 'web',
      uid: 'u',
      resourceVersion: '1',
      generation: 2,
      creationTimestamp: '2026-11-24T09:00:00Z',
      ...metadata,
    },
    status: { conditions, observedGeneration: observed },
  }
}

/** The conditions as the operator writes them. */
function told(state: ConditionState, previous: readonly Condition[] = [], now = NOW): readonly Condition[] {
  return stampConditions(conditionsFor(state, previous, undefined), previous, 2, now)
}

const ready = told({ type: 'ready', message: 'in place' })

describe('the state of a resource', () => {
  test('that works is current, since it became Ready', () => {
    expect(stateOf(edge({ conditions: ready }))).toEqual({
      phase: 'current',
      reason: 'Available',
      message: 'in place',
      since: '2026-11-24T10:00:00Z',
    })
  })

  test('that waits is in progress, since its first condition failed', () => {
    const waiting: ConditionState = {
      type: 'progressing',
      reason: 'ReferenceNotReady',
      message: 'spec.backend: Backend/web does not exist',
      existing: false,
    }
    const conditions = told(waiting, ready, LATER)
    expect(stateOf(edge({ conditions }))).toMatchObject({
      phase: 'inProgress',
      reason: 'ReferenceNotReady',
      since: '2026-11-24T10:05:00Z',
    })
  })

  test('whose edit was refused is stalled, although it still works', () => {
    const refused: ConditionState = { type: 'stalled', reason: 'Rejected', message: 'no', existing: true }
    const conditions = told(refused, ready, LATER)
    expect(conditions.find(({ type }) => type === 'Ready')?.status).toBe('True')
    const state = stateOf(edge({ conditions }))
    expect(state).toMatchObject({ phase: 'stalled', reason: 'Rejected', since: '2026-11-24T10:05:00Z' })
    expect(isAtRest(state)).toBe(true)
  })

  test('that is only observed is current, for the reason for which it is not in sync', () => {
    const observed: ConditionState = {
      type: 'observed',
      ready: { type: 'Ready', status: 'True', reason: 'Available', message: 'in place' },
      message: 'only observed; differs in hostports',
    }
    expect(stateOf(edge({ conditions: told(observed) }))).toMatchObject({ phase: 'current', reason: 'Observed' })
  })

  test('whose spec changed since is in progress', () => {
    const state = stateOf(edge({ conditions: ready, observed: 1 }))
    expect(state).toMatchObject({ phase: 'inProgress', reason: 'SpecChanged' })
    expect(isAtRest(state)).toBe(false)
  })

  test('that nobody has reported on is unseen since it was created', () => {
    expect(stateOf(edge({}))).toMatchObject({ phase: 'unseen', since: '2026-11-24T09:00:00Z' })
  })

  test('that is paused says so, whatever its conditions say', () => {
    const metadata = { annotations: { 'culvert.dev/paused': 'true' } }
    expect(stateOf(edge({ conditions: ready, metadata }))).toMatchObject({ phase: 'paused', reason: 'Paused' })
    const annotations = { 'culvert.dev/paused': 'yes' }
    expect(stateOf(edge({ conditions: ready, metadata: { annotations } })).phase).toBe('current')
  })

  test('that is being deleted says what the deletion waits for, since it was asked for', () => {
    const deleting: ConditionState = { type: 'deleting', reason: 'Deleting', message: 'in use by Edge/shop' }
    const metadata = { deletionTimestamp: '2026-11-24T10:04:00Z' }
    expect(stateOf(edge({ conditions: told(deleting, ready, LATER), metadata }))).toEqual({
      phase: 'deleting',
      reason: 'Deleting',
      message: 'in use by Edge/shop',
      since: '2026-11-24T10:04:00Z',
    })
    expect(stateOf(edge({ conditions: ready, metadata })).message).toBe('the deletion is in progress')
  })
})
