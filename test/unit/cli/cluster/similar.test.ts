import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostSimilar } from '../../../../src/cli/cluster/similar.ts'

test('the most similar word is suggested, and none that has little in common', () => {
  const kinds = ['edge', 'edges', 'backend', 'ippolicy']
  expect(mostSimilar('edeg', kinds)).toBe('edge')
  expect(mostSimilar('Bakcends', kinds)).toBe('backend')
  expect(mostSimilar('pod', kinds)).toBeUndefined()
})

test('a word with one typing error is recognised', () => {
  const word = fc.stringMatching(/^[a-z]{4,20}$/)
  fc.assert(
    fc.property(word, fc.nat(), fc.constantFrom('swap', 'drop', 'double'), (known, at, how) => {
      const index = at % (known.length - 1)
      const [left = '', right = ''] = [known[index], known[index + 1]]
      const changed = { swap: `${right}${left}`, drop: left, double: `${left}${left}${right}` }[how]
      const typed = `${known.slice(0, index)}${changed}${known.slice(index + 2)}`
      expect(mostSimilar(typed, ['x'.repeat(known.length), known])).toBe(known)
    }),
  )
})
