import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escaped, jsonText, nameText, printable } from '../../../src/util/printable.ts'

/** ESC, NUL, newline, CSI, reading order, line separator, zero width, no-break space, tag, half a character. */
const HOSTILE = '\u001b[2J\u0000\n\u009b\u202ecod\u2066\u2028\u200b\u00a0\u{e0041}\ud83d'
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

test('text of people stays as it is', () => {
  for (const text of ['spec.name: "büro" is taken', '😀 – «x»', '办公室', '']) {
    expect(printable(text)).toBe(text)
    expect(escaped(text)).toBe(text)
  }
})

test('prose is one line, and what would drive a terminal or turn the reading order is shown', () => {
  expect(printable('a\r\n{"level":60}\tb')).toBe('a {"level":60} b')
  expect(printable('\u001b[2J\u0000\u202ecod\u2066')).toBe('\\u001b[2J\\u0000\\u202ecod\\u2066')
  expect(printable('a\u2028b')).toBe('a b')
  expect(printable('half \ud83d')).toBe('half \\ud83d')
  expect(printable(printable(HOSTILE))).toBe(printable(HOSTILE))
})

test('nothing is replaced by something that others are replaced by', () => {
  expect(escaped(HOSTILE)).toBe(
    '\\u001b[2J\\u0000\\u000a\\u009b\\u202ecod\\u2066\\u2028\\u200b\\u00a0\\udb40\\udc41\\ud83d',
  )
  expect(escaped('a\nb\tc', true)).toBe('a\nb\\u0009c')
})

describe('whatever the text', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(HOSTILE, '\\u001b', '\u001b', '"', 'a b'))

  test('it is printable, and JSON of it is the same text again', () => {
    fc.assert(
      fc.property(text, (any) => {
        for (const shown of [escaped(any), printable(any), jsonText(any), nameText(any)]) {
          expect(shown).not.toMatch(UNPRINTABLE)
        }
        expect(JSON.parse(jsonText({ [any]: any }, 2))).toEqual({ [any]: any })
      }),
    )
  })

  test('two names that differ are shown differently', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        fc.pre(one !== other)
        expect(nameText(one)).not.toBe(nameText(other))
      }),
    )
    expect(nameText('\u001b')).toBe('"\\u001b"')
    expect(nameText('\\u001b')).toBe('"\\\\u001b"')
  })
})
