import { describe, expect, test } from 'vitest'
import { wordingFindings } from '../../../../scripts/lints/wording.ts'

function uses(path: string, content: string): number {
  const [finding] = wordingFindings([{ path, content }], {})
  return Number(finding?.problem.match(/^uses (\d+)/)?.[1] ?? 0)
}

describe('a word to avoid', () => {
  test.each([
    ['a comment', '/** Deletes it, and\n * creates it anew. */'],
    ['a line comment, across its lines', '// released for\n  // good\nf()'],
    ['a string', "throw new Error('created anew')"],
    ['a template', 'const text = `$' + '{name} was created anew`'],
    ['a string after a regular expression with a quote', "x.replace(/['`]/g, 'anew')"],
  ])('is found in %s of source code', (_, source) => {
    expect(uses('src/a.ts', source)).toBe(1)
  })

  test.each([
    ['an identifier', 'const anew = beside(mend)'],
    ['a placeholder', 'const text = `name $' + '{anew} created`'],
    ['a longer word', "f('amidst', 'shall-not')"],
    ['the path of a module', "import { a } from './beside.ts'"],
    ['code in a comment', '/** See `beside`. */'],
  ])('is not found in %s', (_, source) => {
    expect(uses('src/a.ts', source)).toBe(0)
  })

  test('is found in Markdown, except in code and targets of links', () => {
    expect(uses('docs/a.md', 'Created\nanew.\n\n```sh\nshall\n```\n`amid` [it](beside/shall.md)')).toBe(1)
  })

  test('is found in values of charts', () => {
    expect(uses('charts/a/values.yaml', '# Created anew.\nname: anew\n')).toBe(2)
  })
})

describe('the allowance of an area', () => {
  const files = [{ path: 'docs/a.md', content: 'Created anew.' }]
  test.each([
    ['may be used up', 1, 0],
    ['may not be exceeded', 0, 1],
    ['has to shrink with the prose', 2, 1],
  ])('%s', (_, docs, findings) => {
    expect(wordingFindings(files, { docs })).toHaveLength(findings)
  })

  test('has to go with its area', () => {
    expect(wordingFindings([], { docs: 1 }).map(({ place }) => place)).toEqual(['docs'])
  })
})
