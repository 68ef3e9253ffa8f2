import { expect, test } from 'vitest'
import { hiddenText, pendingPlanLines } from '../../../../src/cli/approve-command.ts'
import { lineText } from '../../../../src/cli/terminal/line.ts'
import type { PendingPlan } from '../../../../src/managed/descriptor/pending-plan.ts'

const whole: PendingPlan = {
  hash: 'h',
  since: '2026-01-01T00:00:00Z',
  operations: [
    { step: 2, action: 'Create', object: 'ip_policy_rules', marks: ['the policy admits 0.0.0.0/0'] },
    { step: 1, action: 'Update', object: 'ip_policies/ipp_1', changes: [{ field: 'description', to: '"…"' }] },
  ],
}
const [opening, renaming] = whole.operations as [PendingPlan['operations'][0], PendingPlan['operations'][0]]

function linesOf(plan: PendingPlan): readonly string[] {
  return pendingPlanLines(plan, { width: 100 }).map((line) => lineText(line))
}

test('each request has its place in the order of sending, and what to look at', () => {
  expect(hiddenText(whole)).toBeUndefined()
  expect(linesOf(whole)).toEqual([
    '2. + create ip_policy_rules',
    '     ! the policy admits 0.0.0.0/0',
    '1. ~ update ip_policies/ipp_1',
    '     description: "…"',
  ])
})

test.each([
  ['3 requests', { ...whole, moreOperations: 3 }],
  ['1 field', { ...whole, operations: [opening, { ...renaming, moreChanges: 1 }] }],
  ['the end of 1 value', { ...whole, operations: [{ ...renaming, changes: [{ field: 'acl', to: '["bind:…' }] }] }],
  ['the end of 1 value', { ...whole, operations: [{ ...renaming, changes: [{ field: 'labels["a…', to: '""' }] }] }],
])('a plan of which %s cannot be seen says so above and below it', (hidden, plan) => {
  const text = `! The plan is not shown in full. Not shown: ${hidden}`
  expect(hiddenText(plan)).toBe(text.slice(2))
  const lines = linesOf(plan)
  expect([lines[0], lines.at(-1)]).toEqual([text, text])
})
