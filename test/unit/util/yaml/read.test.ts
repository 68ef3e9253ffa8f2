import { describe, expect, test } from 'vitest'
import { readYaml } from '../../../../src/util/yaml/read.ts'

const values = (text: string | Uint8Array): unknown[] => readYaml(text).map(({ value }) => value)
const warnings = (text: string) => readYaml(text).flatMap((document) => document.warnings)
const refused = expect.objectContaining({ code: 'YAML_UNREADABLE' })

/** Written from what sigs.k8s.io/yaml v1.6.0 returns; the cluster suite compares with it on generated files. */
describe('a document is read as kubectl reads it', () => {
  test.each([
    ['a: 0310', { a: 200 }],
    ['a: 08', { a: 8 }],
    ['a: 1_000', { a: 1000 }],
    ['a: 0b11', { a: 3 }],
    ['a: 0o17', { a: 15 }],
    ['a: 0x1F', { a: 31 }],
    ['a: 1:30', { a: '1:30' }],
    ['a: 2001-01-01', { a: '2001-01-01' }],
    ['a: yes', { a: true }],
    ['a: OFF', { a: false }],
    ['a: oN', { a: 'oN' }],
    ['on: "1"', { true: '1' }],
    ['1.10: a', { '1.1': 'a' }],
    ['1e7: a', { '1e+07': 'a' }],
    ['a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}', { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } }],
    ['a: &x {b: 1}\nd: {b: 2, <<: *x}', { a: { b: 1 }, d: { b: 1 } }],
    ['a: 1\na: 2', { a: 2 }],
    ['a: "x\u0085y"', { a: 'x y' }],
    ['a: "x\u2028 y"', { a: 'x\u2028y' }],
    ['a: !!str 1', { a: '1' }],
    ['a: !!binary aGk=', { a: 'hi' }],
    ['__proto__: 1', JSON.parse('{"__proto__":1}')],
    ['a: "x\ny"', { a: 'x y' }],
  ])('%j', (text, value) => {
    expect(values(text)).toEqual([value])
  })

  test.each([
    ['a directive', '%YAML 1.1\n---\na: 1'],
    ['content after a separator', '--- {a: 1}'],
    ['an escaped slash', 'a: "\\/"'],
    ['half a surrogate pair', 'a: "\\ud83d"'],
    ['a control character', 'a: "\u0007"'],
    ['a tab as indentation', 'a:\n\tb: 1'],
    ['a bare line separator in a value', 'a:\n  b: x\u2028y'],
    ['a key of more than 1,024 characters', `a:\n  ${'k'.repeat(1025)}: 1`],
    ['infinity', 'a: .inf'],
    ['null as a key', '~: 1'],
    ['an alias of nothing', 'a: *x'],
    ['an alias of itself', 'a: &x [*x]'],
    [
      'aliases of aliases of aliases',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'abcdefg'.replaceAll(/./g, (name) => {
        const next = String.fromCharCode(name.charCodeAt(0) + 1)
        return `${next}: &${next} [${Array.from({ length: 9 }, () => `*${name}`).join(',')}]\n`
      })}`,
    ],
    ['a third object that is no JSON', '{}\n{}\n---\na: 1'],
  ])('%s is refused', (_what, text) => {
    expect(() => readYaml(text)).toThrow(refused)
  })
})

describe('a stream', () => {
  test('is split at lines that begin with ---, and loses empty documents', () => {
    expect(values('---\na: 1\n--- # next\n\n---\nb: |\n  ---\n')).toEqual([{ a: 1 }, { b: '---\n' }])
  })

  test('of JSON needs no separators, and may go on as YAML after its first object', () => {
    expect(values('{"a": "\\ud83d\\ude42"}{"b": 2}\n{"c": 3}')).toEqual([{ a: '🙂' }, { b: 2 }, { c: 3 }])
    expect(values('{"a": 1}\n---\nb: on\n')).toEqual([{ a: 1 }, { b: true }])
    expect(values('{a: 1}')).toEqual([{ a: 1 }])
  })

  test('may be in UTF-16, and begin with a byte order mark', () => {
    expect(values(Buffer.from('\ufeffa: é', 'utf16le'))).toEqual([{ a: 'é' }])
    expect(values(Buffer.from('\ufeffa: é'))).toEqual([{ a: 'é' }])
  })
})

describe('a warning', () => {
  test.each([
    ['a: yes', 'kubectl reads "yes" as true, YAML 1.2 as text: quote it'],
    ['a: 0310', 'kubectl reads "0310" as 200, YAML 1.2 as 310: quote it'],
    ['on: "1"', 'kubectl reads "on" as true, YAML 1.2 as text: quote it'],
    ['a: &x {b: 1}\nc: {<<: *x}', 'YAML 1.2 has no merge key <<: kubectl merges, and other readers may not'],
    ['a: 1\na: 2', '"a" is a key twice: kubectl uses the last, others refuse it'],
    ['a: 1\n...\nb: 2', 'kubectl ignores what follows here: begin a document with ---'],
    ['a: "x\u0085y"', 'U+0085 is a line break to kubectl, and a character to YAML 1.2: write "\\u0085"'],
  ])('is given for %j', (text, message) => {
    expect(warnings(text).map((warning) => warning.message)).toEqual([message])
  })

  test.each(['a: 1', 'a: 1.5', 'a: 08', 'a: true', 'a: ~', 'a: "yes"', 'a: 2001-01-01', 'a: 1:30', '{"a": "yes"}'])(
    'is not given for %j, which all read alike',
    (text) => {
      expect(warnings(text)).toEqual([])
    },
  )

  test('names the line in the file', () => {
    expect(warnings('a: 1\n---\n# x\nb:\n- on\n').map(({ line }) => line)).toEqual([5])
  })
})

test('the line of a field is that of its name, or of what stands above it', () => {
  const [, second] = readYaml('x: 1\n---\na:\n  b:\n  - c: 1\n  - &y\n    d: 2\ne: *y\n')
  const line = (...path: readonly (string | number)[]) => second?.lineOf(path)
  expect([line(), line('a', 'b'), line('a', 'b', 0, 'c'), line('a', 'b', 1, 'd'), line('a', 'z'), line('e')]).toEqual([
    3, 4, 5, 7, 3, 8,
  ])
})
