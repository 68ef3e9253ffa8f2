import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import type { KindCondition } from '../../../../src/managed/descriptor/readiness.ts'
import { reasons } from '../../../../src/managed/descriptor/reasons.ts'
import { type ConditionState, conditionsFor, stampConditions } from '../../../../src/managed/run/conditions.ts'

const message = fc.constantFrom('one', 'two')
const reason = fc.constantFrom(reasons.Progressing, reasons.Rejected, reasons.ApiError)
const existing = fc.boolean()
const states: fc.Arbitrary<ConditionState> = fc.oneof(
  fc.record({ type: fc.constant('ready' as const), message }),
  fc.record({ type: fc.constant('synced' as const), reason, message, stalled: fc.boolean() }),
  fc.record({ type: fc.constant('progressing' as const), reason, message, existing }),
  fc.record({ type: fc.constant('failing' as const), reason, message, existing }),
  fc.record({ type: fc.constant('stalled' as const), reason, message, existing }),
  fc.constant({ type: 'paused' as const }),
  fc.record({ type: fc.constant('deleting' as const), reason, message }),
)
const extras: fc.Arbitrary<readonly KindCondition[] | undefined> = fc.option(
  fc.array(
    fc.record({
      type: fc.constant('CertificateReady'),
      status: fc.constantFrom('True' as const, 'False' as const),
      reason,
      message,
    }),
    {
      maxLength: 1,
    },
  ),
  { nil: undefined },
)
const entries = fc.record({ state: states, extra: extras, newSpec: fc.boolean() })

const T0 = Date.UTC(2026, 0, 1)

/** The status after each of a series of reconciles, a minute apart. */
function play(
  row: readonly { state: ConditionState; extra: readonly KindCondition[] | undefined; newSpec: boolean }[],
) {
  const states: { readonly generation: number; readonly now: number; readonly conditions: readonly Condition[] }[] = []
  let generation = 1
  for (const [index, { state, extra, newSpec }] of row.entries()) {
    if (newSpec) generation++
    const previous = states.at(-1)?.conditions ?? []
    const now = T0 + index * 60_000
    const conditions = stampConditions(conditionsFor(state, previous, extra), previous, generation, now)
    states.push({ generation, now, conditions })
  }
  return states
}

const typed = (conditions: readonly Condition[], type: string) =>
  conditions.find((condition) => condition.type === type)

describe('in any row of states', () => {
  test('each type stands once, and Reconciling and Stalled exist only while they hold, never both', () => {
    fc.assert(
      fc.property(fc.array(entries, { minLength: 1, maxLength: 6 }), (row) => {
        for (const { conditions } of play(row)) {
          const types = conditions.map(({ type }) => type)
          expect(new Set(types).size).toBe(types.length)
          expect(typed(conditions, 'Reconciling')?.status ?? 'True').toBe('True')
          expect(typed(conditions, 'Stalled')?.status ?? 'True').toBe('True')
          expect(types.includes('Reconciling') && types.includes('Stalled')).toBe(false)
          expect(types).toContain('Synced')
        }
      }),
    )
  })

  test('a transition time moves if and only if the status does', () => {
    fc.assert(
      fc.property(fc.array(entries, { minLength: 2, maxLength: 6 }), (row) => {
        const states = play(row)
        for (const [index, { conditions, now }] of states.entries()) {
          for (const condition of conditions) {
            const before = typed(states[index - 1]?.conditions ?? [], condition.type)
            const same = before?.status === condition.status
            const written = `${new Date(now).toISOString().slice(0, 19)}Z`
            expect(condition.lastTransitionTime).toBe(same ? before.lastTransitionTime : written)
          }
        }
      }),
    )
  })

  test('an equal state changes nothing', () => {
    fc.assert(
      fc.property(fc.array(entries, { minLength: 1, maxLength: 4 }), (row) => {
        const last = row.at(-1)
        if (last === undefined) return
        const states = play([...row, { ...last, newSpec: false }])
        expect(states.at(-1)?.conditions).toEqual(states.at(-2)?.conditions)
      }),
    )
  })

  test('a Ready that was kept speaks of the spec that it was made for, and only of an object that exists', () => {
    fc.assert(
      fc.property(fc.array(entries, { minLength: 2, maxLength: 6 }), (row) => {
        const states = play(row)
        for (const [index, { conditions, generation }] of states.entries()) {
          const state = row[index]?.state
          const ready = typed(conditions, 'Ready')
          if (ready?.status !== 'True') continue
          if (state?.type === 'ready') expect(ready.observedGeneration).toBe(generation)
          else expect(ready).toEqual(typed(states[index - 1]?.conditions ?? [], 'Ready'))
          if (state !== undefined && 'existing' in state) expect(state.existing).toBe(true)
          expect(['deleting', 'synced']).not.toContain(state?.type)
        }
      }),
    )
  })

  test('conditions of the kind stay while nothing is known of them, and go when the kind has none', () => {
    fc.assert(
      fc.property(fc.array(entries, { minLength: 2, maxLength: 6 }), (row) => {
        const states = play(row)
        for (const [index, { conditions }] of states.entries()) {
          const { extra } = row[index] ?? {}
          const before = typed(states[index - 1]?.conditions ?? [], 'CertificateReady')
          const now = typed(conditions, 'CertificateReady')
          if (extra === undefined) expect(now).toEqual(before)
          else expect(now?.reason).toBe(extra[0]?.reason)
        }
      }),
    )
  })
})

test('a message longer than a status should hold is cut, and stays the same text', () => {
  const state: ConditionState = { type: 'ready', message: 'x'.repeat(100_000) }
  const first = stampConditions(conditionsFor(state, [], []), [], 1, T0)
  const second = stampConditions(conditionsFor(state, first, []), first, 1, T0 + 1000)
  expect(first[0]?.message.length).toBeLessThanOrEqual(4096)
  expect(second).toEqual(first)
})

test('a transition that a clock that was ahead has noted counts as now, and one within the difference of two clocks stays', () => {
  const state: ConditionState = { type: 'ready', message: 'at work' }
  const stamped = (previous: readonly Condition[], now: number): readonly Condition[] => {
    return stampConditions(conditionsFor(state, previous, []), previous, 1, now)
  }
  const ahead = stamped([], T0 + 3_600_000)
  const corrected = stamped(ahead, T0)
  expect(corrected.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime))).toEqual([T0, T0])
  expect(stamped(corrected, T0 - 60_000)).toEqual(corrected)
})
