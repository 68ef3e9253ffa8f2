import { expect, test } from 'vitest'
import { knownStatus } from '../../../src/telemetry/spans.ts'

test.each([
  [200, '200'],
  ['404', '404'],
  [503, '503'],
  ['Timeout', 'Timeout'],
  [299, 'other'],
  [777, 'other'],
  ['0200', 'other'],
  ['20 0', 'other'],
])('%j is shown as %j', (status, shown) => {
  expect(knownStatus(status)).toBe(shown)
})
