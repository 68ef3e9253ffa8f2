import { describe, expect, test } from 'vitest'
import { withCompanionCondition } from '../../../../src/managed/outputs/companion.ts'
import type { RunResult } from '../../../../src/managed/run/result.ts'

const own = { type: 'DNSReady', status: 'True', reason: 'InSync', message: 'in place' } as const
const condition = { type: 'DNSEndpointReady', status: 'False', reason: 'CRDNotInstalled', message: 'none' } as const
const ready = { state: { type: 'ready', message: 'works' }, conditions: [own] } as const
const done: RunResult = { ...ready, outcome: { type: 'done' } }

function waiting(ms: number): RunResult {
  return { ...ready, outcome: { type: 'after', ms, reason: 'CertificatePending', priority: 'poll' } }
}

describe('a result with what is said of a companion', () => {
  test('is as it was without one', () => {
    expect(withCompanionCondition(done, {})).toEqual(done)
  })

  test('has its condition next to those of the kind, and stands as it did', () => {
    expect(withCompanionCondition(done, { condition })).toEqual({ ...done, conditions: [own, condition] })
  })

  test('asks for a look at the companion where nothing else is due sooner', () => {
    const look = (result: RunResult) => withCompanionCondition(result, { condition, pollMs: 30_000 }).outcome
    expect(look(done)).toMatchObject({ type: 'after', ms: 30_000, reason: 'CRDNotInstalled' })
    expect(look(waiting(60_000))).toMatchObject({ type: 'after', ms: 30_000 })
    expect(look(waiting(5000))).toEqual(waiting(5000).outcome)
  })
})
