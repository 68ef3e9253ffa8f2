import { describe, expect, test } from 'vitest'
import { outputProblems, placeOf, templateOf } from '../../../src/kinds/credentials/output-place.ts'
import { tokenOutput } from '../../../src/kinds/credentials/token.ts'

describe('a key of a label or annotation', () => {
  const said = (key: string) =>
    outputProblems({ output: { configMap: { name: 'public', annotations: { [key]: 'x' } } } }).join()

  test.each([
    'team',
    'a',
    'app.kubernetes.io/part-of',
    'reloader.stakater.com/match',
    `${'n'.repeat(63)}`,
    'not-culvert.dev/a',
  ])('%s is taken', (key) => expect(said(key)).toBe(''))

  test.each(['culvert.dev/id', 'internal.culvert.dev/id', 'a.b.culvert.dev/x'])('%s is Culvert’s own', (key) => {
    expect(said(key)).toBe(
      `spec.output.configMap.annotations: "${key}" is under culvert.dev, which is Culvert's own: choose another prefix`,
    )
  })

  test.each([
    '',
    '/',
    'a/',
    '/a',
    'a/b/c',
    'a b',
    '-a',
    'a,b',
    'UPPER.example.com/a',
    'n'.repeat(64),
    `${'p'.repeat(254)}/a`,
  ])('%s is none', (key) => expect(said(key)).toContain('is not a valid key: write name or prefix/name'))

  test('is looked at in labels of a Secret too', () => {
    expect(outputProblems({ output: { secret: { labels: { 'a b': '' } } } })).toEqual([
      expect.stringContaining('spec.output.secret.labels: "a b" is not a valid key'),
    ])
  })
})

test('texts go where the one member says, with its labels and annotations', () => {
  const labels = { team: 'edge' }
  expect(placeOf({})).toBeUndefined()
  expect(placeOf({ output: { configMap: { name: 'a' } } })).toEqual({ kind: 'ConfigMap', name: 'a' })
  expect(placeOf({ output: { secret: { name: 'a', labels } } })).toEqual({ kind: 'Secret', name: 'a' })
  expect(templateOf({ output: { secret: { name: 'a', labels } } })).toEqual({ labels, annotations: {} })
  expect(templateOf({})).toEqual({ labels: {}, annotations: {} })
})

test('a token goes into a Secret of the name of its resource, under the key token, unless the spec says otherwise', () => {
  expect(tokenOutput.target({}, 'ci')).toEqual({ name: 'ci', key: 'token' })
  expect(tokenOutput.target({ output: { secret: { labels: {} } } }, 'ci')).toEqual({ name: 'ci', key: 'token' })
  expect(tokenOutput.target({ output: { secret: { name: 'a', key: 'b' } } }, 'ci')).toEqual({ name: 'a', key: 'b' })
})
