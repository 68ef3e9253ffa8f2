import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { CommonSpec } from '../../../src/managed/types/common.ts'
import { fixedFieldRule } from '../../../src/schema/rules.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { ApiClient } from '../../builders/contract/api-client.ts'
import { EmulatedLife, type Surroundings } from '../../builders/emulated-life.ts'
import { meaningOf } from '../../builders/meaning.ts'
import { type Change, changesFrom, exampleChanges, touched } from '../../builders/schema-changes.ts'
import { SchemaCoverage } from '../../builders/schema-coverage.ts'
import { withDefaults } from '../../builders/schema-rules.ts'
import { pathsOf, type Spec } from '../../builders/schema-specs.ts'
import { BY_ID, INPUTS, NAMED, PLACES_SEED, placesOf } from '../../builders/spec-places.ts'

/** Fixed, so that a failure names the same specs again; more of them with GENERATED_SPECS. */
const seed = 20261121
const numRuns = Number(process.env.GENERATED_SPECS ?? 20)

const managed = kinds.flatMap((descriptor) => {
  if (descriptor.role !== 'managed') return []
  return [{ kind: descriptor.definition.kind, descriptor, schema: toStructural(descriptor.definition.spec, 'spec') }]
})

let emulator: Awaited<ReturnType<typeof startEmulator>>
let api: ApiClient
const objects = new Map<string, RemoteObject>()

beforeAll(async () => {
  emulator = await startEmulator({ certSeconds: 1 })
  api = new ApiClient(emulator.url, emulator.apiKey)
  emulator.admin.seed(PLACES_SEED)
  for (const [path, id] of [
    ...Object.values(NAMED),
    ...Object.entries(BY_ID).map(([id, path]) => [path, id] as const),
  ]) {
    objects.set(id, await api.get(path, id))
  }
})

afterAll(() => emulator.close())

const around: Surroundings = {
  target: (kind, { name, id }) => {
    const found = id ?? NAMED[`${kind}/${name}`]?.[1]
    if (found === undefined) throw new Error(`there is no ${kind}/${name}`)
    return { id: found, object: objects.get(found) }
  },
  input: (key) => {
    const text = INPUTS[key]
    if (text === undefined) throw new Error(`there is no input ${key}`)
    return text
  },
}

/** Top-level fields that a rule keeps as they were at create. */
function fixedFields(schema: SchemaNode): readonly string[] {
  const rules = new Set(schema['x-kubernetes-validations']?.map(({ rule }) => rule))
  return Object.keys(schema.properties ?? {}).filter((field) => rules.has(fixedFieldRule(field)))
}

describe.each(managed)('any spec of $kind', ({ kind, descriptor, schema }) => {
  const examples = exampleChanges(schema, placesOf(kind), seed)

  test('is taken, needs no second look, and comes to the same whatever was before', { timeout: 600_000 }, async () => {
    const coverage = new SchemaCoverage(schema)
    const property = fc.asyncProperty(changesFrom(schema, placesOf(kind)), async (specs) => {
      for (const spec of specs) {
        coverage.count(spec)
        expect(descriptor.problems(spec as CommonSpec)).toEqual([])
      }
      const [before, after] = specs
      expect(await lived(descriptor, schema, [before, after])).toEqual(await lived(descriptor, schema, [after]))
    })
    const given = examples.map((change): [Change] => [change])
    await fc.assert(property, { seed, examples: given, numRuns: given.length + numRuns })
    console.info(`${kind}, how often: ${coverage.summary()}`)
    expect(coverage.missing()).toEqual([])
  })

  test('is changed in each of its fields, but for those that are fixed', () => {
    const alone = examples.map(touched).filter(({ length }) => length === 1)
    const never = Object.keys(schema.properties ?? {}).filter((field) => !alone.some(([only]) => only === field))
    expect(never).toEqual(fixedFields(schema))
  })
})

type Managed = (typeof managed)[number]['descriptor']

/** What the object is in the end that followed these specs, one after the other. */
async function lived(descriptor: Managed, schema: SchemaNode, specs: readonly Spec[]): Promise<unknown> {
  const life = new EmulatedLife(api, descriptor, around)
  const last = specs.at(-1) ?? {}
  try {
    for (const spec of specs) await life.settle(withDefaults(schema, spec) as CommonSpec)
    // A default says the same whether the apiserver filled it in or not.
    expect(await life.left(last)).toEqual([])
    const shown = await life.shown()
    return { shown: meaningOf(last, shown), target: storedTarget(descriptor, shown.object.id) }
  } finally {
    await life.end()
  }
}

/** The one field that the API keeps whole and does not show whole (`api-decisions.md § Values`). */
function storedTarget({ collections }: Managed, id: string): unknown {
  const accounts = Object.values(emulator.admin.snapshot().accounts)
  const stored = accounts.flatMap(({ objects: held }) => collections.flatMap(({ path }) => held[path] ?? []))
  return stored.find((each) => each.id === id)?.target
}

test('values are given only for places that there are', () => {
  const stale = managed.flatMap(({ kind, schema }) => {
    const paths = pathsOf(schema)
    return Object.keys(placesOf(kind)).filter((path) => !paths.includes(path))
  })
  expect(stale).toEqual([])
})
