import { type Static, Type } from 'typebox'
import { expectTypeOf, test } from 'vitest'
import {
  anyObject,
  bool,
  bytesText,
  choice,
  integer,
  list,
  nullable,
  object,
  stringMap,
  text,
  timestamp,
} from '../../../src/schema/define.ts'
import { defineKind, type KindDefinition, type SpecOf, type StatusOf } from '../../../src/schema/definition.ts'

const d = { description: 'A field.' }

test('optional fields become optional properties and choices become unions', () => {
  const schema = object(
    {
      name: text({ ...d, maxLength: 10 }),
      region: Type.Optional(choice(['us', 'eu'], d)),
      note: Type.Optional(bytesText('note', 255, d)),
      port: integer({ ...d, minimum: 1, maximum: 65535 }),
      enabled: Type.Optional(bool({ ...d, default: true })),
      at: timestamp(d),
    },
    d,
  )
  expectTypeOf<Static<typeof schema>>().toEqualTypeOf<{
    name: string
    region?: 'us' | 'eu'
    note?: string
    port: number
    enabled?: boolean
    at: string
  }>()
})

test('lists, maps, free objects and null keep the type of what they hold', () => {
  const schema = object(
    {
      items: list(object({ cidr: text(d), action: choice(['Allow', 'Deny'], d) }, d), { ...d, maxItems: 3 }),
      labels: stringMap(text(d), { ...d, maxProperties: 3 }),
      weights: Type.Optional(stringMap(integer(d), { ...d, maxProperties: 3 })),
      config: anyObject(d),
      parent: nullable(text(d)),
      child: Type.Optional(nullable(object({ id: text(d) }, d))),
    },
    d,
  )
  expectTypeOf<Static<typeof schema>>().toEqualTypeOf<{
    items: { cidr: string; action: 'Allow' | 'Deny' }[]
    labels: Record<string, string>
    weights?: Record<string, number>
    config: Record<string, unknown>
    parent: string | null
    child?: { id: string } | null
  }>()
})

test('a definition keeps the types of its spec and status, and is a definition of any kind', () => {
  const definition = defineKind({
    group: 'culvert.dev',
    version: 'v1alpha1',
    kind: 'Sample',
    plural: 'samples',
    singular: 'sample',
    shortNames: [],
    categories: ['culvert'],
    scope: 'Namespaced',
    description: 'A sample.',
    spec: object({ size: Type.Optional(integer(d)) }, d),
    status: object({ id: Type.Optional(text(d)) }, d),
    printerColumns: [],
  })
  expectTypeOf<SpecOf<typeof definition>>().toEqualTypeOf<{ size?: number }>()
  expectTypeOf<StatusOf<typeof definition>>().toEqualTypeOf<{ id?: string }>()
  const any: readonly KindDefinition[] = [definition]
  expectTypeOf(any).toEqualTypeOf<readonly KindDefinition[]>()
})
