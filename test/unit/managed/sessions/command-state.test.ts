import { expect, test } from 'vitest'
import { conditionsOf } from '../../../../src/managed/sessions/command-state.ts'

test.each([
  ['over and all done', 'Complete', 'AllDone', { Complete: 'True', Failed: 'False' }],
  ['over and not all done', 'Failed', 'SomeNotDone', { Complete: 'False', Failed: 'True', Stalled: 'True' }],
  ['not over', 'Running', 'CommandRunning', { Complete: 'False', Failed: 'False', Reconciling: 'True' }],
] as const)('a command that is %s has the conditions that tools wait by', (_, phase, reason, expected) => {
  const conditions = conditionsOf([phase, reason, 'why'])
  expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toEqual(expected)
  expect(conditions.every((condition) => condition.reason === reason && condition.message === 'why')).toBe(true)
})
