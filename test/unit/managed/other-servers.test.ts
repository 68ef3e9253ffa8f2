import { describe, expect, test } from 'vitest'
import { ApiError, type ApiErrorCode } from '../../../src/api/errors.ts'
import { sendUpdate } from '../../../src/managed/apply/send-update.ts'
import { createdBy, recoverable } from '../../../src/managed/markers/own-objects.ts'
import type { UpdateOperation } from '../../../src/managed/plan/plan.ts'
import { Memory } from '../../../src/managed/run/memory.ts'
import type { Reconciliation } from '../../../src/managed/run/reconciliation.ts'
import { writeReasons } from '../../../src/telemetry/write-origin.ts'
import { cr, marked } from '../../builders/custom-resource.ts'

/** What a server that keeps the contract may do, and ours does not. */

const STATUSES: readonly (readonly [ApiErrorCode, number])[] = [
  ['Conflict', 409],
  ['Invalid', 400],
  ['Invalid', 422],
]

test.each(STATUSES)('an update refused as %s with %i is sent each other way once', async (code, status) => {
  const sent: unknown[] = []
  const run = {
    collection: {},
    memory: new Memory(),
    originFor: () => ({}),
    session: {
      cache: {
        update: async (_collection: unknown, _id: string, body: unknown) => {
          sent.push(body)
          if (sent.length < 3)
            throw new ApiError(code, 'certificate_id and the policy exclude each other', { definite: true, status })
        },
      },
    },
  } as unknown as Reconciliation
  const operation: UpdateOperation = {
    type: 'update',
    fields: ['a'],
    body: { a: 1 },
    alternatives: [{ a: 2 }, { a: 3 }],
  }
  await sendUpdate(run, 'rd_1', operation, writeReasons.spec)
  expect(sent).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
})

describe('objects with ids in no order', () => {
  const older = marked('z', {}, { created_at: '2026-01-01T00:00:00Z' })
  const newer = marked('b', {}, { created_at: '2026-01-01t00:00:01.000000000000z' })
  const newest = marked('c', {}, { created_at: '2026-01-01T05:30:02+05:30' })

  test('are distinguished by their age', () => {
    const own = { installation: 'here', uid: 'mine', nonce: 'a' }
    expect(recoverable([newest, older, newer], cr(), 'here')).toEqual([older, newer, newest])
    expect(createdBy([newer, newest, older], own)).toEqual([older, newer, newest])
  })

  test('are in a fixed order where their age is the same, or not shown', () => {
    const [a, b] = [marked('a', {}, { created_at: null }), marked('b', {}, { created_at: 'long ago' })]
    expect(recoverable([b, older, a], cr(), 'here')).toEqual([a, b, older])
  })
})
