import { expect, test } from 'vitest'
import { printable } from '../../../src/util/printable.ts'

test('text of people stays as it is', () => {
  for (const text of ['spec.name: "büro" is taken', '😀 – «x»', '']) expect(printable(text)).toBe(text)
})

test('what would begin a line, drive a terminal or turn the reading order is not shown as it is', () => {
  expect(printable('a\r\n{"level":60}\tb')).toBe('a {"level":60} b')
  expect(printable('\u001b[2J\u0000\u202ecod\u2066')).toBe('\ufffd[2J\ufffd\ufffdcod\ufffd')
  expect(printable('a\u2028b')).toBe('a b')
  expect(printable('half \ud83d')).toBe('half \ufffd')
})
