import { expect, test } from 'vitest'
import { digestOf } from '../../../src/util/json.ts'

test('a digest has as many digits as asked for, and follows from the value alone', () => {
  expect(digestOf({ a: 1 })).toBe('015abd7f5cc57a2dd94b7590f04ad808')
  expect(digestOf({ a: 1 }, 16)).toBe('015abd7f5cc57a2d')
  expect(digestOf({ a: 2 })).not.toBe(digestOf({ a: 1 }))
})
