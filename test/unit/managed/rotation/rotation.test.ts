import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tokenRotation } from '../../../../src/kinds/credentials/token.ts'
import { decideRotation, pauseAfterFailures, type RotationFacts } from '../../../../src/managed/rotation/decide.ts'

const facts: RotationFacts = { now: 1000, dueAt: undefined, requested: false, hasFormer: false, pauseMs: 0 }
const anyFacts: fc.Arbitrary<RotationFacts> = fc.record({
  now: fc.nat({ max: 100 }),
  dueAt: fc.option(fc.nat({ max: 100 }), { nil: undefined }),
  requested: fc.boolean(),
  hasFormer: fc.boolean(),
  pauseMs: fc.integer({ min: -50, max: 50 }),
})

describe('a successor', () => {
  test.each([
    ['is never made where nothing asks for one', {}, { type: 'none' }],
    ['waits for its time', { dueAt: 1400 }, { type: 'early', ms: 400 }],
    ['is made when it is due', { dueAt: 1000 }, { type: 'due' }],
    ['is made at once when somebody asks for it', { requested: true, dueAt: 9000 }, { type: 'due' }],
    ['waits until the former object is gone', { dueAt: 1, hasFormer: true }, { type: 'former' }],
    ['waits for that even when somebody asks for it', { requested: true, hasFormer: true }, { type: 'former' }],
    ['is tried again after a pause', { dueAt: 1, pauseMs: 7 }, { type: 'pause', ms: 7 }],
  ])('%s', (_title, given, step) => {
    expect(decideRotation({ ...facts, ...given })).toEqual(step)
  })

  test('is made exactly when it is asked for or it is due, no former object exists, and no pause runs', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const wanted = given.requested || (given.dueAt !== undefined && given.dueAt <= given.now)
        const due = wanted && !given.hasFormer && given.pauseMs <= 0
        const step = decideRotation(given)
        expect(step.type === 'due').toBe(due)
        if ('ms' in step) expect(step.ms).toBeGreaterThan(0)
      }),
    )
  })

  test('that waited as long as it was asked to is made then', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const step = decideRotation(given)
        if (step.type !== 'early') return
        const later = decideRotation({ ...given, now: given.now + step.ms, hasFormer: false, pauseMs: 0 })
        expect(later).toEqual({ type: 'due' })
      }),
    )
  })

  test('that fails is tried again after 5 seconds, then ever later, within ten minutes', () => {
    expect([0, 1, 2, 3, 7, 8, 50].map(pauseAfterFailures)).toEqual([0, 5000, 10_000, 20_000, 320_000, 600_000, 600_000])
  })
})

describe('a token', () => {
  const { dueAt, overlapMs } = tokenRotation
  const remote = undefined

  test('is due when it has the age that the spec sets, and not at all without one or before its issue is known', () => {
    expect(dueAt({ spec: { rotation: { interval: '1h' } }, remote, since: 5 })).toBe(3_600_005)
    expect(dueAt({ spec: {}, remote, since: 5 })).toBeUndefined()
    expect(dueAt({ spec: { rotation: { interval: '1h' } }, remote, since: undefined })).toBeUndefined()
  })

  test.each([
    ['as the spec says', { interval: '720h', overlap: '24h' }, 86_400_000],
    ['not at all, if the spec says so', { interval: '720h', overlap: '0s' }, 0],
    ['for an hour', { interval: '720h' }, 3_600_000],
    ['for a tenth of a short interval', { interval: '10s' }, 1000],
    ['for an hour, where one is only asked for', undefined, 3_600_000],
  ])('works on next to the next one %s', (_title, rotation, ms) => {
    expect(overlapMs(rotation === undefined ? {} : { rotation })).toBe(ms)
  })
})
