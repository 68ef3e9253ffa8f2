import { expect, test } from 'vitest'
import { choice, list, object } from '../../../src/schema/define.ts'
import { checkEnumWords, foreignVocabularies } from '../../../src/schema/enum-words.ts'
import { SchemaError } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'

const described = { description: 'A field.' }

function check(words: readonly [string, ...string[]]): void {
  const spec = object({ modes: list(choice(words, described), { ...described, maxItems: 2 }) }, described)
  checkEnumWords(toStructural(spec, 'spec'), 'spec')
}

test.each([[['Allow', 'Deny']], [['API', 'Ed25519', 'LetsEncrypt']]] as const)(
  'words in CamelCase are taken: %s',
  (words) => {
    expect(() => check(words)).not.toThrow()
  },
)

test.each(foreignVocabularies)('words of others are taken as a whole: $words', ({ words: [first = '', ...others] }) => {
  expect(() => check([first, ...others])).not.toThrow()
  expect(() => check([first])).toThrow(SchemaError)
})

test.each([['allow'], ['Http-Only'], ['UPPER_CASE'], ['1.2']])('%s is refused, with the place', (word) => {
  expect(() => check(['Fine', word])).toThrow(expect.objectContaining({ code: 'SCHEMA_REFUSED', path: 'spec.modes[]' }))
})
