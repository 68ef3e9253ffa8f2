import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Multimap } from '../../../src/util/multimap.ts'

const change = fc.record({ adds: fc.boolean(), key: fc.constantFrom('a', 'b'), text: fc.constantFrom('1', '2', '3') })

test('each key has the texts that were added to it and not deleted, each once', () => {
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const map = new Multimap()
      const expected = { a: new Set<string>(), b: new Set<string>() }
      for (const { adds, key, text } of changes) {
        if (adds) map.add(key, text)
        else map.delete(key, text)
        if (adds) expected[key].add(text)
        else expected[key].delete(text)
        expect([...map.get(key)].sort()).toEqual([...expected[key]].sort())
      }
    }),
  )
})
