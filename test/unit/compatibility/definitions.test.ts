import { type TProperties, Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { type CustomResourceDefinition, toCRD } from '../../../scripts/crds/crd.ts'
import { object, text } from '../../../src/schema/define.ts'
import { experimental, type KindDefinition } from '../../../src/schema/definition.ts'
import { sampleKind } from '../../builders/sample-kind.ts'
import { incompatibilities } from '../../releases/compatibility/definitions.ts'

const released = toCRD(sampleKind)
const d = { description: 'A field.' }

function since(change: Partial<KindDefinition>): readonly string[] {
  return between(released, toCRD({ ...sampleKind, ...change }))
}

function between(earlier: CustomResourceDefinition, later: CustomResourceDefinition): readonly string[] {
  return incompatibilities([earlier], [later]).map(({ path, sort, what }) => `${path} ${sort}: ${what}`)
}

/** The CRD with its only version changed. */
function withVersion(change: Readonly<Record<string, unknown>>): CustomResourceDefinition {
  const [version] = released.spec.versions as [Record<string, unknown>]
  return { ...released, spec: { ...released.spec, versions: [{ ...version, ...change }] } }
}

/** The CRD with a second version, which becomes the storage version. */
function withSecondVersion(definition: KindDefinition): CustomResourceDefinition {
  const [first] = released.spec.versions as [Record<string, unknown>]
  const [second] = toCRD({ ...definition, version: 'v1beta1' }).spec.versions as [Record<string, unknown>]
  return { ...released, spec: { ...released.spec, versions: [{ ...first, storage: false }, second] } }
}

describe('what a kind may gain', () => {
  test.each<[string, Partial<KindDefinition>]>([
    ['a short name', { shortNames: ['smp', 'sm'] }],
    ['another description', { description: 'Better words.' }],
    ['a selectable field', { selectableFields: ['.status.id', '.spec.region', '.spec.key'] }],
    ['other columns', { printerColumns: [] }],
  ])('%s', (_, change) => {
    expect(since(change)).toEqual([])
  })

  test('a further kind', () => {
    const other = toCRD({ ...sampleKind, kind: 'Other', plural: 'others', singular: 'other' })
    expect(incompatibilities([released], [released, other])).toEqual([])
  })

  test('a second version with the same schema, which is stored from then on', () => {
    expect(between(released, withSecondVersion(sampleKind))).toEqual([])
  })
})

describe('what is experimental may', () => {
  const trial = { ...sampleKind, description: experimental(sampleKind.description) }

  test('go, and take its names along', () => {
    expect(incompatibilities([toCRD(trial)], [])).toEqual([])
    expect(between(toCRD(trial), toCRD({ ...sampleKind, shortNames: [], scope: 'Cluster' }))).toEqual([])
  })

  test('go as a field, or change with all that is below it', () => {
    const withTrial = (fields: TProperties) => toCRD({ ...sampleKind, spec: object(fields, d), selectableFields: [] })
    const tried = (max: number) =>
      object({ name: text({ ...d, maxLength: max }) }, { description: experimental('It may go.') })
    expect(between(withTrial({ tried: tried(9) }), withTrial({ tried: tried(8) }))).toEqual([])
    expect(between(withTrial({ tried: Type.Optional(tried(9)) }), withTrial({}))).toEqual([])
  })
})

describe('what is found of a kind', () => {
  test.each<[string, Partial<KindDefinition>, string]>([
    ['another plural', { plural: 'specimens' }, 'Sample removed: the CRD samples.culvert.dev is gone'],
    ['another kind', { kind: 'Specimen' }, 'Sample removed: kind Sample is gone'],
    ['another singular', { singular: 'specimen' }, 'Sample removed: singular sample is gone'],
    ['a short name that is gone', { shortNames: [] }, 'Sample removed: smp of shortNames is gone'],
    ['a category that is gone', { categories: [] }, 'Sample removed: culvert of categories is gone'],
    ['another scope', { scope: 'Cluster' }, 'Sample changed: scope went from Namespaced to Cluster'],
    ['a version that is gone', { version: 'v1beta1' }, 'Sample removed: version v1alpha1 is no longer served'],
    [
      'a field that cannot be selected any more',
      { selectableFields: ['.status.id'] },
      'Sample.spec.region removed: is no longer a selectable field',
    ],
  ])('%s', (_, change, expected) => {
    expect(since(change)).toEqual([expected])
  })

  test('a version that is no longer served', () => {
    expect(between(released, withVersion({ served: false }))).toEqual([
      'Sample removed: version v1alpha1 is no longer served',
    ])
  })

  test('a status without its subresource', () => {
    expect(between(released, withVersion({ subresources: {} }))).toEqual([
      'Sample changed: the subresource status exists in only one of both',
    ])
  })

  test('a conversion', () => {
    const spec = { ...released.spec, conversion: { strategy: 'Webhook' } }
    expect(between(released, { ...released, spec })).toEqual(['Sample changed: conversion by Webhook'])
  })

  test('versions whose schemas differ', () => {
    const spec = object({ ...sampleKind.spec.properties, extra: Type.Optional(text(d)) }, d)
    expect(between(released, withSecondVersion({ ...sampleKind, spec, selectableFields: [] }))).toContain(
      'Sample.spec.extra removed: is gone in one version and not in the other',
    )
  })

  test('what becomes experimental', () => {
    const description = experimental(sampleKind.description)
    expect(since({ description })).toEqual(['Sample changed: became experimental'])
  })

  test('a field that is gone, below the kind and the version that had it', () => {
    const { key: _, ...properties } = sampleKind.spec.properties
    expect(since({ spec: { ...sampleKind.spec, ...object(properties, d) } as KindDefinition['spec'] })).toContain(
      'Sample.spec.key removed: is gone',
    )
  })
})
