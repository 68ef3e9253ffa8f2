import { describe, expect, test } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import { checkRules } from '../../../src/schema/rule-checks.ts'
import { toStructural } from '../../../src/schema/structural.ts'

const definitions = kinds.map(({ definition }) => definition)

describe.each(definitions)('$kind', (definition) => {
  test.each(['spec', 'status'] as const)('has a %s that the apiserver takes, with rules of bounded cost', (part) => {
    const node = toStructural(definition[part], part)
    expect(() => checkRules(node, part)).not.toThrow()
  })

  test('is listed by the category and shows how it stands', () => {
    expect(definition.categories).toContain('culvert')
    expect(definition.printerColumns.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Ready', 'Reason', 'Age', 'Message']),
    )
  })
})

test('no two kinds share a name', () => {
  const names = definitions.flatMap(({ kind, plural, singular, shortNames }) => [
    ...new Set([kind.toLowerCase(), plural, singular, ...shortNames]),
  ])
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
