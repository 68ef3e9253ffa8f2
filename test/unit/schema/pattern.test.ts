import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertPortablePattern, PatternError } from '../../../src/schema/pattern.ts'

describe('a pattern in the common subset of JavaScript and RE2 is accepted', () => {
  test.each([
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    '^(?:[0-9]+(?:ms|s|m|h))+$',
    '^[^\\n]{1,1000}$',
    '^\\d+\\.\\w*\\x41\\/$',
    '^[\\]\\-^[.(?]+$',
    '\\bword\\b',
    '^a+?b{2,}$',
    '\\(\\?=',
    '[(?=]',
    'é|😀',
  ])('%s', (pattern) => {
    expect(() => assertPortablePattern(pattern)).not.toThrow()
  })
})

describe('a pattern that the two engines read differently is refused', () => {
  test.each([
    ['(?=a)', 'look-ahead'],
    ['(?!a)', 'negative look-ahead'],
    ['(?<=a)', 'look-behind'],
    ['(?<!a)', 'negative look-behind'],
    ['(a)\\1', 'back-reference'],
    ['(?<n>a)\\k<n>', 'named group and back-reference'],
    ['(?i:a)', 'inline flags'],
    ['(?i)a', 'inline flags of the whole'],
    ['(?P<n>a)', 'a named group of RE2'],
    ['(?>a)', 'atomic group'],
    ['a++', 'possessive repetition'],
    ['a*+', 'possessive repetition'],
    ['a.b', 'dot'],
    ['\\s', 'white space'],
    ['[\\s]', 'white space in a class'],
    ['\\p{L}', 'Unicode property'],
    ['\\u0041', 'Unicode escape'],
    ['\\cA', 'control escape'],
    ['\\0', 'octal'],
    ['[]', 'empty class'],
    ['[^]', 'empty negated class'],
    ['[[:alpha:]x', 'named class'],
    ['[\\b]', 'back-space'],
    ['\\Aa\\z', 'anchors of RE2'],
    ['a{1001}', 'too many repetitions'],
    ['a{2,1001}', 'too many repetitions'],
    ['(', 'not a regular expression'],
    ['a]', 'lone bracket'],
  ])('%s (%s)', (pattern) => {
    expect(() => assertPortablePattern(pattern)).toThrow(PatternError)
  })
})

test('any text, escaped by hand, is a portable pattern that matches it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const pattern = `^${text.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, '\\$&')}$`
      expect(() => assertPortablePattern(pattern)).not.toThrow()
      expect(new RegExp(pattern, 'u').test(text)).toBe(true)
    }),
  )
})
