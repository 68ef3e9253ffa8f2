import { expect, test } from 'vitest'
import { conditionsOf } from '../../../../src/managed/commands/said.ts'

test.each([
  ['over and all done', 'True', 'AllDone', ['Complete']],
  ['over and not all done', 'False', 'SomeNotDone', ['Complete', 'Stalled']],
  ['not over', 'Unknown', 'CommandRunning', ['Complete', 'Reconciling']],
] as const)('a command that is %s has the conditions that tools wait by', (_, complete, reason, types) => {
  const conditions = conditionsOf([complete, reason, 'why'])
  expect(conditions.map(({ type }) => type)).toEqual(types)
  expect(conditions.map(({ status }) => status)).toEqual([complete, 'True'].slice(0, types.length))
  expect(conditions.every((condition) => condition.reason === reason && condition.message === 'why')).toBe(true)
})
