import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SharedTexts } from '../../../src/kube/representation.ts'

test('every text is returned as it is, however many there are', () => {
  const texts = new SharedTexts()
  fc.assert(fc.property(fc.string({ maxLength: 300, unit: 'binary' }), (text) => texts.of(text) === text))
  for (let index = 0; index < 5000; index++) expect(texts.of(`message ${index}`)).toBe(`message ${index}`)
})
