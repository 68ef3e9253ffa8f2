import { type TSchema, Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { noSpecDefaults } from '../../../../scripts/lints/defaults.ts'
import { noCitations } from '../../../../scripts/lints/descriptions.ts'
import { camelCaseEnums } from '../../../../scripts/lints/enums.ts'
import { type Finding, findingsOf, type Lint } from '../../../../scripts/lints/lint.ts'
import { noMetadataText } from '../../../../scripts/lints/metadata-text.ts'
import { explainedPatterns } from '../../../../scripts/lints/patterns.ts'
import { storableSpecs } from '../../../../scripts/lints/sizes.ts'
import { discriminatedUnions } from '../../../../scripts/lints/unions.ts'
import { fromNamesSources } from '../../../../scripts/lints/value-sources.ts'
import { valueFrom } from '../../../../src/managed/descriptor/common.ts'
import { bool, choice, list, object, stringMap, text } from '../../../../src/schema/define.ts'
import type { KindDefinition } from '../../../../src/schema/definition.ts'
import { atMostOne, exactlyOne, type Rule, unionOf } from '../../../../src/schema/rules.ts'
import { sampleKind } from '../../../builders/sample-kind.ts'

const d = { description: 'A field.' }
const word = text({ ...d, maxLength: 9 })

/** A kind with these fields in its spec, all optional. */
function kindWith(fields: Readonly<Record<string, TSchema>>, rules: readonly Rule[] = []): KindDefinition {
  const optional = Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]))
  return { ...sampleKind, spec: object(optional, { ...d, rules }) }
}

function placesFound(lint: Lint, ...definitions: readonly KindDefinition[]): readonly string[] {
  return findingsOf(definitions, [lint]).map(({ place }) => place)
}

describe('enums are CamelCase', () => {
  const versions = { values: ['1.2', '1.3'], places: ['Sample.spec.versions[]'], reason: 'as everybody writes them' }
  const mode = (...values: [string, ...string[]]) => choice(values, d)

  test.each([['Allow'], ['API'], ['LetsEncrypt'], ['Ed25519'], ['TCP']])('%s passes', (value) => {
    const lint = camelCaseEnums([])
    expect(placesFound(lint, kindWith({ mode: mode(value) }))).not.toContain('Sample.spec.mode')
  })

  test.each([['allow'], ['UPPER_SNAKE'], ['kebab-case'], ['1.2'], ['']])('%j is found', (value) => {
    const lint = camelCaseEnums([])
    expect(placesFound(lint, kindWith({ mode: mode('Allow', value) }))).toEqual(['Sample.spec.mode'])
  })

  test('a foreign vocabulary passes where it is listed, and nowhere else', () => {
    const versionList = list(mode('1.2', '1.3'), { ...d, maxItems: 2 })
    const definition = kindWith({ versions: versionList, other: mode('1.2') })
    expect(placesFound(camelCaseEnums([versions]), definition)).toEqual(['Sample.spec.other'])
  })

  test('a listed value that no enum has any more is found', () => {
    const definition = kindWith({ versions: list(mode('1.3'), { ...d, maxItems: 2 }) })
    const [finding, ...others] = findingsOf([definition], [camelCaseEnums([versions])])
    expect(others).toEqual([])
    expect(finding).toMatchObject({ place: 'Sample.spec.versions[]', problem: expect.stringContaining('"1.2"') })
  })
})

describe('fields of a spec have no default', () => {
  const on = bool({ ...d, default: true })

  test('one without passes, and so does the default of a status', () => {
    expect(placesFound(noSpecDefaults([]), kindWith({ plain: word }))).toEqual([])
  })

  test('one with a default is found, however deep', () => {
    const deep = object({ on: Type.Optional(on) }, d)
    expect(placesFound(noSpecDefaults([]), kindWith({ on, deep }))).toEqual(['Sample.spec.on', 'Sample.spec.deep.on'])
  })

  test('a listed one passes, of one kind or of all', () => {
    const definition = kindWith({ on })
    const other = { ...definition, kind: 'Other' }
    const listed = (place: string) => noSpecDefaults([{ places: [place], reason: 'never sent' }])
    expect(placesFound(listed('Sample.spec.on'), definition, other)).toEqual(['Other.spec.on'])
    expect(placesFound(listed('*.spec.on'), definition, other)).toEqual([])
  })

  test('a listed one that has no default any more is found', () => {
    const lint = noSpecDefaults([{ places: ['Sample.spec.on', '*.spec.gone'], reason: 'never sent' }])
    expect(placesFound(lint, kindWith({ on: bool(d) }))).toEqual(['Sample.spec.on', '*.spec.gone'])
  })
})

describe('spec.metadata', () => {
  test('may be a map, and a text of another name is allowed next to it', () => {
    const metadata = stringMap(word, { ...d, maxProperties: 4 })
    expect(placesFound(noMetadataText, kindWith({ metadata, rawMetadata: word }))).toEqual([])
  })

  test('is found as a text', () => {
    expect(placesFound(noMetadataText, kindWith({ metadata: word }))).toEqual(['Sample.spec.metadata'])
  })
})

describe('names in From', () => {
  test('of sources of values pass', () => {
    expect(placesFound(fromNamesSources, kindWith({ keyFrom: valueFrom('The key.'), from: word }))).toEqual([])
  })

  test.each([
    ['a text', word],
    ['an object that is no source', object({ name: word }, d)],
    ['an object that is more than a source', object({ secretKeyRef: word, id: word }, d)],
    ['a list of sources', list(valueFrom('A key.'), { ...d, maxItems: 2 })],
  ])('of %s are found', (_, schema) => {
    expect(placesFound(fromNamesSources, kindWith({ keyFrom: schema }))).toEqual(['Sample.spec.keyFrom'])
  })
})

describe('unions', () => {
  const members = { a: word, b: word, c: word }

  test('of two pass bare', () => {
    expect(placesFound(discriminatedUnions, kindWith(members, [exactlyOne(['a', 'b'])]))).toEqual([])
  })

  test('of three pass with a discriminator', () => {
    const spec = object(
      { type: choice(['A', 'B', 'C'], d), a: Type.Optional(word), b: Type.Optional(word), c: Type.Optional(word) },
      { ...d, rules: [unionOf('type', { A: 'a', B: 'b', C: 'c' })] },
    )
    expect(placesFound(discriminatedUnions, { ...sampleKind, spec })).toEqual([])
  })

  test.each([exactlyOne, atMostOne])('of three are found bare', (rule) => {
    const findings = findingsOf([kindWith(members, [rule(['a', 'b', 'c'])])], [discriminatedUnions])
    expect(findings).toEqual<readonly Finding[]>([
      { place: 'Sample.spec', problem: expect.stringContaining('union of a, b, c') },
    ])
  })

  test('are found in items, with names that CEL escapes', () => {
    const fields = ['namespace', 'in-fact', 'c']
    const optional = Object.fromEntries(fields.map((name) => [name, Type.Optional(word)]))
    const item = object(optional, { ...d, rules: [exactlyOne(fields)] })
    const definition = kindWith({ targets: list(item, { ...d, maxItems: 2 }) })
    expect(placesFound(discriminatedUnions, definition)).toEqual(['Sample.spec.targets[]'])
  })
})

describe('citations of the contract', () => {
  test('are absent from what says it in words', () => {
    expect(placesFound(noCitations, kindWith({ plain: word }))).toEqual([])
  })

  test('are found in descriptions and in messages of rules', () => {
    const described = text({ description: 'See `management-api.md § Lists`.', maxLength: 9 })
    const ruled = text({
      ...d,
      maxLength: 9,
      rules: [{ rule: "self != ''", message: 'ruled is empty: see management-api.md' }],
    })
    expect(placesFound(noCitations, kindWith({ described, ruled }))).toEqual([
      'Sample.spec.described',
      'Sample.spec.ruled',
    ])
    expect(placesFound(noCitations, { ...sampleKind, description: 'As management-api.md says.' })).toEqual(['Sample'])
  })
})

test('a spec that could grow too large to be stored is found, with the places that take most', () => {
  const texts = (maxItems: number) => kindWith({ words: list(text({ ...d, maxLength: 1000 }), { ...d, maxItems }) })
  expect(placesFound(storableSpecs, texts(200))).toEqual([])
  const [finding] = findingsOf([texts(300)], [storableSpecs])
  expect(finding).toMatchObject({ place: 'Sample.spec', problem: expect.stringContaining('spec.words[]') })
  expect(placesFound(storableSpecs, kindWith({ word: text(d) }))).toEqual(['Sample.spec'])
})

test('a text of a spec that has to match a pattern says in words what it must be', () => {
  const matching = { ...d, maxLength: 9, pattern: '^[a-z]+$' }
  const explained = { word: text({ ...matching, mustBe: 'a word' }), list: list(text(matching), { ...d, maxItems: 2 }) }
  expect(placesFound(explainedPatterns, kindWith(explained))).toEqual(['Sample.spec.list[]'])
})
