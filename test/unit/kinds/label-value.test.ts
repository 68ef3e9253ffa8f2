import fc from 'fast-check'
import { expect, test } from 'vitest'
import { labelValue } from '../../../src/kinds/tunnel-session.ts'

/** A value that the apiserver accepts (k8s.io/apimachinery, IsValidLabelValue). */
const VALID = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
  fc.stringMatching(/^[A-Za-z0-9._/ -]{0,150}$/),
)

test('whatever the text, a label value is valid or there is none', () => {
  fc.assert(
    fc.property(anything, (text) => {
      const value = labelValue(text)
      if (value === undefined) expect(text).not.toMatch(/[A-Za-z0-9]/)
      else expect(value.length <= 63 && VALID.test(value)).toBe(true)
    }),
  )
})

test('a valid value stays as it is', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/), (text) => {
      expect(labelValue(text)).toBe(text)
    }),
  )
})

test('two long values with the same beginning stay two', () => {
  const beginning = 'a'.repeat(63)
  expect(labelValue(`${beginning}b`)).not.toBe(labelValue(`${beginning}c`))
})

test.each([
  ['svc/v2', 'svc-v2'],
  ['Windows Server 2022 (x64)', 'Windows-Server-2022-x64'],
  ['  linux\n', 'linux'],
  ['/', undefined],
  ['', undefined],
  [undefined, undefined],
])('%j becomes %j', (text, value) => {
  expect(labelValue(text)).toBe(value)
})
