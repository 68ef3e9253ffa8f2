import { expect, test } from 'vitest'
import { chartValues, settable } from '../../../scripts/chart-values.ts'

const text = `# About the file.

# The first.
first: ""
group:
  # Inside.
  member: 1
  # Next to it.
  list: [a]
# A group with a word of its own.
told:
  # Inside.
  member: true
# One value,
# said in two lines.
whole:
  a: 1
  b: {}
`

test('every value has its path, default and comment, and a group with a comment a row of its own', () => {
  expect(chartValues(text)).toEqual([
    { path: 'first', description: 'The first.', preset: '' },
    { path: 'group.member', description: 'Inside.', preset: 1 },
    { path: 'group.list', description: 'Next to it.', preset: ['a'] },
    { path: 'told', description: 'A group with a word of its own.' },
    { path: 'told.member', description: 'Inside.', preset: true },
    { path: 'whole', description: 'One value, said in two lines.', preset: { a: 1, b: {} } },
  ])
})

test('groups cannot be set', () => {
  expect(settable(chartValues(text)).map(({ path }) => path)).not.toContain('told')
})
