import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { kindIndex, kindPage } from '../../../scripts/crds/docs.ts'
import { list, object, text } from '../../../src/schema/define.ts'
import { immutable } from '../../../src/schema/rules.ts'
import { sampleKind } from '../../builders/sample-kind.ts'

const d = { description: 'A field.' }

describe('the page of a kind', () => {
  const page = kindPage(sampleKind, { example: 'kind: Sample\n', notes: 'More **notes**.', aside: 'Mind the gap.' })

  test('shows what to know first, then the example before the fields, and the notes between', () => {
    const order = [
      '# Sample',
      'A sample shows',
      'Mind the gap.',
      '## Example',
      'kind: Sample',
      'More **notes**.',
      '## Spec',
      '## Status',
      '## Rules',
      '## Columns',
      '## Conditions',
    ]
    const places = order.map((part) => page.indexOf(part))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })

  test.each([
    '| `region` | `us` or `eu` | `"us"` |  | immutable | Where it is served. |',
    '| `namespace` | string |  | at most 63 characters | immutable once set | A name that CEL reserves. |',
    '| `description` | string |  | at most 255 bytes |  | Free text. |',
    '| `key` | string |  | at most 64 characters, `^[a-z]+$` | replaces | The key. |',
    '| `hostports` | list of object, required |  | 1–8 items |  | Endpoints on which the edge listens. |',
    '| `hostports[].port` | integer, required |  | 1–65535 |  | The port. |',
    '| `labels` | map of string |  | at most 4 entries, each at most 63 characters |  | Labels. |',
    '| `conditions[].lastTransitionTime` | time, required |  | When the status last changed. |',
    '| `spec.hostports[]` | set exactly one of host, reservedDomain |',
    '| ID | The id at the API. | `-o wide` |',
    '| `Ready` | The sample can be used. |',
  ])('has the row %s', (row) => {
    expect(page.split('\n')).toContain(row)
  })

  test('names the group in commands where another project has the same plural, and the selectable fields', () => {
    expect(page).toContain('`kubectl get samples` · `kubectl get smp`')
    expect(page).toContain('`--field-selector` takes `metadata.name`, `status.id`, `spec.region`.')
    const shared = kindPage({ ...sampleKind, pluralSharedWith: 'Another Project' })
    expect(shared).toContain('`kubectl get samples.culvert.dev` · `kubectl get smp`')
    expect(shared).toContain('Another Project also has `samples`.')
  })

  test('leaves out the sections for which there is nothing', () => {
    const bare = kindPage({ ...sampleKind, conditions: [], printerColumns: [] })
    expect(bare).not.toMatch(/## (Example|Columns|Conditions)/)
  })

  test('marks what lies below an immutable field as immutable', () => {
    const target = object(
      { name: text({ ...d, maxLength: 9 }) },
      { ...d, rules: [immutable('target is fixed: make another')] },
    )
    const spec = object({ target: Type.Optional(target), free: list(text(d), { ...d, maxItems: 1 }) }, d)
    const lines = kindPage({ ...sampleKind, spec }).split('\n')
    expect(lines).toContain('| `target.name` | string, required | at most 9 characters | immutable | A field. |')
    expect(lines).toContain('| `free` | list of string, required | at most 1 items |  | A field. |')
  })

  test('escapes what would break a table', () => {
    const spec = object({ a: text({ description: 'One | two\nthree.', pattern: '^(a|b)$' }) }, d)
    expect(kindPage({ ...sampleKind, spec })).toContain('`^(a\\|b)$` | One \\| two three. |')
  })
})

test('the index lists every kind by name with its first sentence', () => {
  const index = kindIndex([sampleKind, { ...sampleKind, kind: 'Alpha', plural: 'alphas', description: 'First kind.' }])
  const rows = index.split('\n').filter((line) => line.startsWith('| ['))
  expect(rows).toEqual([
    '| [Alpha](alphas.md) | `smp` | First kind. |',
    '| [Sample](samples.md) | `smp` | A sample shows every sort of field. |',
  ])
})
