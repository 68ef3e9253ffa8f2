import { describe, expect, test } from 'vitest'
import { checkRules } from '../../../scripts/crds/rule-checks.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { toStructural } from '../../../src/schema/structural.ts'

const definitions = kinds.map(({ definition }) => definition)

/** What `kubectl get` must show of a kind: its state, or for a mirror, its content. */
const columns: Readonly<Record<(typeof kinds)[number]['role'], readonly string[]>> = {
  managed: ['Ready', 'Synced', 'Reason', 'Age', 'ID', 'Message', 'Sync message'],
  account: ['Ready', 'Reason', 'Age', 'Message'],
  composed: ['Ready', 'Connected', 'Reason', 'Age', 'Message'],
  mirror: ['ID', 'Started', 'Account'],
  command: ['Action', 'Complete', 'Reason', 'Age', 'Message'],
}

describe.each(kinds.map(({ role, definition }) => ({ kind: definition.kind, role, definition })))(
  '$kind',
  ({ role, definition }) => {
    test.each(['spec', 'status'] as const)('has a %s that the apiserver takes, with rules of bounded cost', (part) => {
      const node = toStructural(definition[part], part)
      expect(() => checkRules(node, part)).not.toThrow()
    })

    test('is listed by the category and shows how it stands', () => {
      expect(definition.categories).toContain('culvert')
      expect(definition.printerColumns.map(({ name }) => name)).toEqual(expect.arrayContaining([...columns[role]]))
    })

    test('shows always whether an edit was taken, and the id of its object with -o wide only', () => {
      if (role !== 'managed') return
      const short = definition.printerColumns.filter(({ priority = 0 }) => priority === 0).map(({ name }) => name)
      expect(short).toEqual(expect.arrayContaining(['Ready', 'Synced']))
      expect(short).not.toContain('ID')
    })
  },
)

test('no two kinds share a name', () => {
  const names = definitions.flatMap(({ kind, plural, singular, shortNames }) => [
    ...new Set([kind.toLowerCase(), plural, singular, ...shortNames]),
  ])
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
