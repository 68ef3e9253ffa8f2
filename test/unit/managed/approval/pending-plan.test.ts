import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changesOf } from '../../../../src/managed/approval/field-changes.ts'
import { describeRequests, hashOfPlan, isPlanFor, shownPlan } from '../../../../src/managed/approval/pending-plan.ts'
import type { PlannedRequest } from '../../../../src/managed/approval/planned-requests.ts'
import { pendingPlan, SHOWN } from '../../../../src/managed/descriptor/pending-plan.ts'
import { compile } from '../../../../src/schema/validator.ts'

const value = fc.oneof(
  fc.string({ maxLength: 20_000, unit: 'binary' }),
  fc.integer(),
  fc.constant(undefined),
  fc.object(),
)
const change = fc.oneof(
  fc.record({ path: fc.string({ maxLength: 400 }), old: value, new: value, isSecret: fc.constant(false) }),
  fc.record({
    path: fc.string(),
    old: fc.constant(undefined),
    new: fc.constant(undefined),
    isSecret: fc.constant(true),
  }),
)
const request: fc.Arbitrary<PlannedRequest> = fc.record({
  action: fc.constantFrom('Create', 'Update', 'Delete'),
  collection: fc.constantFrom('edges/tls', 'ip_policies'),
  id: fc.option(fc.string({ minLength: 1, maxLength: 1_000, unit: 'binary' }), { nil: undefined }),
  changes: fc.array(change, { maxLength: 100 }),
  marks: fc.array(fc.string({ maxLength: 600, unit: 'binary' }), { maxLength: 10 }),
})
const requests = fc.array(request, { minLength: 1, maxLength: 40 })
const origin = fc.record({
  of: fc.string({ minLength: 32, maxLength: 32, unit: fc.constantFrom(...'0123456789abcdef') }),
  after: fc.option(fc.string(), { nil: undefined }),
})

describe('a plan that waits for approval', () => {
  test('fits into a status, whatever its requests are', () => {
    const validator = compile(pendingPlan)
    fc.assert(
      fc.property(requests, origin, (planned, from) => {
        const shown = shownPlan(planned, hashOfPlan(planned, from), '2026-01-01T00:00:00.000Z')
        expect(validator.validate(JSON.parse(JSON.stringify(shown)))).toMatchObject({ ok: true })
        const { operations, moreOperations = 0 } = shown
        expect(Buffer.byteLength(JSON.stringify(operations))).toBeLessThanOrEqual(SHOWN.bytes + 2 * SHOWN.operations)
        expect(operations.length + moreOperations).toBe(planned.length)
        expect(operations.length).toBeGreaterThan(0)
        for (const { step, changes = [], moreChanges = 0 } of operations) {
          expect(changes.length + moreChanges).toBe(planned[step - 1]?.changes.length)
        }
        const isMarked = operations.map(({ marks }) => marks !== undefined)
        expect(isMarked).toEqual(isMarked.toSorted((one, other) => Number(other) - Number(one)))
      }),
    )
  })

  test('has another hash if anything differs, also what a status has no room for', () => {
    fc.assert(
      fc.property(requests, origin, (planned, from) => {
        const hash = hashOfPlan(planned, from)
        expect(hashOfPlan(structuredClone(planned), { ...from })).toBe(hash)
        expect(
          hashOfPlan([...planned, { action: 'Delete', collection: 'edges', id: 'a', changes: [], marks: [] }], from),
        ).not.toBe(hash)
        expect(hashOfPlan(planned, { ...from, after: `${from.after}+` })).not.toBe(hash)
        const long = { path: 'a', old: undefined, new: 'x'.repeat(SHOWN.value * 2), isSecret: false }
        const longer = { ...long, new: `${long.new}y` }
        const ending = (last: typeof long): PlannedRequest => ({ ...(planned[0] as PlannedRequest), changes: [last] })
        expect(hashOfPlan([ending(long)], from)).not.toBe(hashOfPlan([ending(longer)], from))
      }),
    )
  })

  test('tells whether it is for the same spec', () => {
    const of = '0123456789abcdef'.repeat(2)
    const hash = hashOfPlan([], { of, after: undefined })
    expect(isPlanFor(hash, of)).toBe(true)
    expect(isPlanFor(hash, of.replaceAll('0', '1'))).toBe(false)
  })

  test('never shows the values of secrets', () => {
    const secret = { path: 'api_key', old: undefined, new: undefined, isSecret: true }
    const planned: PlannedRequest = { action: 'Update', collection: 'sinks', id: 'a', changes: [secret], marks: [] }
    const [operation] = shownPlan([planned], 'h', '2026-01-01T00:00:00.000Z').operations
    expect(operation?.changes).toEqual([{ field: 'api_key', secret: true }])
  })

  test('is named in a message by its first request that opens, deletes or replaces something, or the first of all', () => {
    const created: PlannedRequest = { action: 'Create', collection: 'edges/tls', id: undefined, changes: [], marks: [] }
    const deleted: PlannedRequest = {
      action: 'Delete',
      collection: 'edges/tls',
      id: 'e_1',
      changes: [],
      marks: ['the object is deleted'],
    }
    expect(describeRequests([created])).toBe('create edges/tls')
    expect(describeRequests([created, deleted])).toBe('delete edges/tls/e_1 and 1 more')
  })

  test('shows keys as they are, or quoted: no two look alike', () => {
    const keys = ['a', 'a\u202e', 'a\u200b', '\u001b', '\\u001b', 'a.b', 'a"]']
    const changes = keys.flatMap((key) => {
      const body = { labels: { [key]: key } }
      return changesOf(undefined, { collection: { path: 'edges' }, body, before: undefined })
    })
    const planned: PlannedRequest = { action: 'Create', collection: 'edges', id: undefined, changes, marks: [] }
    const [operation] = shownPlan([planned], 'h', '2026-01-01T00:00:00.000Z').operations
    expect(operation?.changes?.map(({ field, to }) => [field, to])).toEqual([
      ['labels.a', '"a"'],
      ['labels["a\\u202e"]', '"a\\u202e"'],
      ['labels["a\\u200b"]', '"a\\u200b"'],
      ['labels["\\u001b"]', '"\\u001b"'],
      ['labels["\\\\u001b"]', '"\\\\u001b"'],
      ['labels["a.b"]', '"a.b"'],
      ['labels["a\\"]"]', '"a\\"]"'],
    ])
  })
})
