import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { rootSchema, toCRD } from '../../../scripts/crds/crd.ts'
import { crdFile, generatedYamlHeader, toYaml } from '../../../scripts/crds/yaml.ts'
import { choice, list, object, stringMap, text } from '../../../src/schema/define.ts'
import type { KindDefinition, PrinterColumn } from '../../../src/schema/definition.ts'
import { SchemaError } from '../../../src/schema/schema-node.ts'
import { sampleKind } from '../../builders/sample-kind.ts'

const d = { description: 'A field.' }

function withColumn(jsonPath: string): KindDefinition {
  const column: PrinterColumn = { name: 'Column', type: 'string', jsonPath, description: 'A column.' }
  return { ...sampleKind, printerColumns: [column] }
}

function selecting(path: string): KindDefinition {
  return { ...sampleKind, selectableFields: [path] }
}

test('a CRD carries names, scope, schema, status subresource and columns of its kind', () => {
  const crd = toCRD(sampleKind)
  expect(crd.metadata.name).toBe('samples.culvert.dev')
  expect(crd.spec).toMatchObject({
    group: 'culvert.dev',
    scope: 'Namespaced',
    names: {
      kind: 'Sample',
      listKind: 'SampleList',
      plural: 'samples',
      singular: 'sample',
      shortNames: ['smp'],
      categories: ['culvert'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              metadata: { type: 'object' },
              spec: { properties: { region: { type: 'string', enum: ['us', 'eu'], default: 'us' } } },
              status: { properties: { conditions: { 'x-kubernetes-list-map-keys': ['type'] } } },
            },
          },
        },
        additionalPrinterColumns: [
          { name: 'ID', jsonPath: '.status.id', priority: 1 },
          { name: 'Ready', type: 'string' },
          { name: 'Age', type: 'date' },
        ],
        selectableFields: [{ jsonPath: '.status.id' }, { jsonPath: '.spec.region' }],
      },
    ],
  })
})

test('a status that names the generation it is about says of a new resource that there is none yet', () => {
  const status = object({ observedGeneration: Type.Optional(Type.Integer({ ...d, format: 'int64' })) }, d)
  expect(rootSchema({ ...sampleKind, status }).properties?.status?.default).toEqual({ observedGeneration: -1 })
  expect(rootSchema(sampleKind).properties?.status).not.toHaveProperty('default')
})

test('a kind may be written without spec when it says so', () => {
  expect(JSON.stringify(toCRD({ ...sampleKind, specRequired: false }))).not.toContain('"required":["spec"]')
})

describe('rules of the whole resource', () => {
  test('may read metadata.name, spec and status', () => {
    const rules = [
      { rule: "self.metadata.name != 'x' && has(self.spec.region)", message: 'metadata.name x is reserved: rename it' },
    ]
    expect(JSON.stringify(toCRD({ ...sampleKind, rootRules: rules }))).toContain('metadata.name x is reserved')
  })

  test('are refused when they name a field that does not exist', () => {
    const rules = [{ rule: 'has(self.spec.zone)', message: 'spec.zone must be set' }]
    expect(() => toCRD({ ...sampleKind, rootRules: rules })).toThrow(SchemaError)
  })
})

describe('a definition that the apiserver would refuse is refused', () => {
  test.each<[string, KindDefinition, RegExp]>([
    [
      'a default outside of its choice',
      {
        ...sampleKind,
        spec: object({ a: Type.Unsafe({ ...choice(['x'], d), default: 'y' }) }, d),
      },
      /spec\.a: the default is refused/,
    ],
    [
      'a default that is too long, inside of a list',
      {
        ...sampleKind,
        spec: object(
          {
            a: list(object({ key: text(d), b: text({ ...d, maxLength: 1, default: 'long' }) }, d), {
              ...d,
              maxItems: 1,
              listType: 'map',
              mapKeys: ['key'],
            }),
          },
          d,
        ),
      },
      /spec\.a\[\]\.b: the default/,
    ],
    [
      'an unbounded text with a rule, in the status',
      {
        ...sampleKind,
        status: object({ a: text({ ...d, rules: [{ rule: "self != ''", message: 'a must not be empty' }] }) }, d),
        printerColumns: [],
      },
      /status\.a: is read by a rule.*maxLength/,
    ],
    ['a column of no field', withColumn('.status.nothing'), /leads to no field/],
    ['a column below a text', withColumn('.status.id.more'), /leads to no field/],
    ['a column that is no path', withColumn('status.id'), /not of the form/],
    ['a selectable field that does not exist', selecting('.status.nothing'), /selectable field has to be/],
    ['a selectable field that is an object', selecting('.spec.labels'), /selectable field has to be/],
    ['a selectable key of a map', selecting('.spec.labels.any'), /selectable field has to be/],
    ['a selectable field within a list', selecting('.spec.hostports.port'), /selectable field has to be/],
    ['a selectable field of metadata', selecting('.metadata.name'), /not below \.metadata/],
    ['a selectable field that is no path', selecting('status.id'), /of the form/],
  ])('%s', (_, definition, message) => {
    expect(() => toCRD(definition)).toThrow(message)
  })
})

test.each(['.spec.labels.any', '.spec.hostports[0].port', '.metadata.labels.app', '.spec.region'])(
  'a column may show %s',
  (path) => {
    expect(() => toCRD(withColumn(path))).not.toThrow()
  },
)

describe('YAML of a CRD', () => {
  test('is marked as generated, equal each time, and reads back as the same object', () => {
    const yaml = toYaml(toCRD(sampleKind))
    expect(yaml.startsWith(generatedYamlHeader)).toBe(true)
    expect(toYaml(toCRD(sampleKind))).toBe(yaml)
    expect(parse(yaml)).toEqual(toCRD(sampleKind))
  })

  test('quotes what YAML 1.1 would take for something else', () => {
    expect(parse(toYaml({ list: ['off', 'yes', '1_000', '0o7', '2026-01-01'] }), { version: '1.1' })).toEqual({
      list: ['off', 'yes', '1_000', '0o7', '2026-01-01'],
    })
  })

  test('repeats equal parts instead of aliasing them', () => {
    const part = { a: 1 }
    expect(toYaml({ x: part, y: part })).not.toMatch(/[&*]/)
  })

  test('goes to a file named after group and plural', () => {
    expect(crdFile(sampleKind)).toBe('crds/culvert.dev_samples.yaml')
  })
})

test('a map of texts keeps its schema of values', () => {
  const spec = object({ headers: stringMap(text({ ...d, maxLength: 9 }), { ...d, maxProperties: 2 }) }, d)
  expect(JSON.stringify(toCRD({ ...sampleKind, spec, selectableFields: [] }))).toContain(
    '"additionalProperties":{"description":"A field."',
  )
})

test('a CRD says in words what a text must be, wherever it stands, and shows no pattern that it has words for', () => {
  const word = text({ ...d, maxLength: 9, pattern: "^[a-z]\\\\'?$", mustBe: 'a letter' })
  const plain = text({ ...d, maxLength: 9, pattern: '^[a-z]$' })
  const few = { ...d, maxItems: 2 }
  const spec = object({ word, list: list(word, few), map: stringMap(word, { ...d, maxProperties: 2 }), plain }, d)
  const { versions } = toCRD({ ...sampleKind, printerColumns: [], selectableFields: [], spec }).spec as {
    versions: { schema: { openAPIV3Schema: object } }[]
  }
  const { spec: shown } = Reflect.get(versions[0]?.schema.openAPIV3Schema ?? {}, 'properties') as Record<string, object>
  const rule = (field: string) => [
    { rule: "self.matches('^[a-z]\\\\\\\\\\'?$')", message: `${field} must be a letter` },
  ]
  const said = (field: string) => ({ type: 'string', 'x-kubernetes-validations': rule(field) })
  expect(shown).toMatchObject({
    properties: {
      word: said('word'),
      list: { items: said('list') },
      map: { additionalProperties: said('map') },
      plain: { pattern: '^[a-z]$' },
    },
  })
  expect(JSON.stringify(shown)).not.toContain('mustBe')
  expect(JSON.stringify(shown).split('"pattern"')).toHaveLength(2)
})

test('a kind with replicas has the subresource scale, whose paths must exist', () => {
  const scale = { specReplicas: '.spec.size', statusReplicas: '.status.size', labelSelector: '.status.selector' }
  expect(() => toCRD({ ...sampleKind, scale })).toThrow(SchemaError)
})
