import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { CommonSpec } from '../../../src/managed/descriptor/common.ts'
import { withDefaults } from '../../../src/schema/admission.ts'
import { isFixedFieldRule } from '../../../src/schema/rules.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { ApiClient } from '../../builders/contract/api-client.ts'
import { EmulatedLife, type Surroundings } from '../../builders/emulated-life.ts'
import { meaningOf } from '../../builders/meaning.ts'
import { type Change, changesFrom, exampleChanges, membersChosenBy, touched } from '../../builders/schema-changes.ts'
import { SchemaCoverage } from '../../builders/schema-coverage.ts'
import { pathsOf, type Spec, specsFrom } from '../../builders/schema-specs.ts'
import { namedObject, nightlyUnlessVaried, REFERENTS_SEED, testsOf } from '../../kinds/lookup.ts'
import { INPUTS, OF_NO_KIND } from '../../kinds/shared/account.ts'

/**
 * Constant, so that a failure can be repeated with the same specs; GENERATED_SEED chooses others, GENERATED_SPECS more
 * of them.
 */
const seed = Number(process.env.GENERATED_SEED ?? 20261121)
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
  emulator.admin.seed(REFERENTS_SEED)
  for (const [path, seeded] of Object.entries(REFERENTS_SEED.objects ?? {})) {
    if (path in OF_NO_KIND) continue
    for (const { id } of seeded) objects.set(String(id), await api.get(path, String(id)))
  }
})

afterAll(() => emulator.close())

type Texts = Readonly<Record<string, string>>

/** The content of Secrets and ConfigMaps after each text has changed. */
const CHANGED: Texts = Object.fromEntries(
  [
    ['one', 'two'],
    ['id.pub', 'other.pub'],
    ['ca.crt', 'partner.crt'],
  ].flatMap(([key = '', other = '']) => [
    [key, INPUTS[other] ?? ''],
    [other, INPUTS[key] ?? ''],
  ]),
)

function surroundings(texts: () => Texts): Surroundings {
  return {
    target: (kind, { name, id }) => {
      const found = id ?? namedObject(kind, name)?.object.id
      if (found === undefined) throw new Error(`there is no ${kind}/${name}`)
      return { id: found, object: objects.get(found) }
    },
    input: (key) => {
      const text = texts()[key]
      if (text === undefined) throw new Error(`there is no input ${key}`)
      return text
    },
  }
}

/** Generated specs name objects of their own namespace. */
const OTHER_NAMESPACE = /(Refs?(\[\])?|\.backend)\.namespace$/

/** Top-level fields that a rule makes immutable. */
function fixedFields(schema: SchemaNode): readonly string[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  return Object.keys(schema.properties ?? {}).filter((field) => rules.some(({ rule }) => isFixedFieldRule(rule, field)))
}

describe.each(managed)('any spec of $kind', ({ kind, descriptor, schema }) => {
  const examples = exampleChanges(schema, testsOf(kind).places, seed)

  test('is taken, needs no second look, and comes to the same whatever was before', {
    timeout: 600_000,
    tags: nightlyUnlessVaried(kind),
  }, async () => {
    const coverage = new SchemaCoverage(schema)
    const property = fc.asyncProperty(changesFrom(schema, testsOf(kind).places), async (specs) => {
      for (const spec of specs) {
        coverage.count(spec)
        expect(descriptor.problems(spec as CommonSpec)).toEqual([])
      }
      const [before, after] = specs
      const changed = await lived(descriptor, schema, [{ spec: before }, { spec: after }])
      expect(changed).toEqual(await lived(descriptor, schema, [{ spec: after }]))
    })
    const given = examples.map((change): [Change] => [change])
    await fc.assert(property, { seed, examples: given, numRuns: given.length + numRuns })
    console.info(`${kind}, how often: ${coverage.summary()}`)
    expect(coverage.missing().filter((path) => !OTHER_NAMESPACE.test(path))).toEqual([])
  })

  test('is changed in each of its fields, but for those that are fixed', () => {
    const fixed = fixedFields(schema)
    const isChanged = (field: string): boolean => {
      const tied = [field, ...membersChosenBy(schema, field)]
      // An immutable field may be explicit or omitted if that means the same.
      const counts = ([before, after]: Change) => !fixed.includes(field) || (field in before && field in after)
      return examples.some((change) => {
        const names = touched(change)
        return names.includes(field) && names.every((name) => tied.includes(name)) && counts(change)
      })
    }
    expect(Object.keys(schema.properties ?? {}).filter((field) => !isChanged(field))).toEqual(fixed)
  })
})

const withInputs = managed.flatMap((each) => {
  const takes = fc
    .sample(specsFrom(each.schema, testsOf(each.kind).places), { seed, numRuns: 60 })
    .filter((spec) => (each.descriptor.inputs?.of(spec as CommonSpec) ?? []).length > 0)
  return takes.length === 0 ? [] : [{ ...each, specs: takes.slice(0, 8) }]
})

test.each(withInputs)(
  'a $kind comes to the same whatever its Secret held before',
  async ({ descriptor, schema, specs }) => {
    for (const spec of specs) {
      const changed = await lived(descriptor, schema, [{ spec }, { spec, texts: CHANGED }])
      expect(changed).toEqual(await lived(descriptor, schema, [{ spec, texts: CHANGED }]))
      expect(changed).not.toEqual(await lived(descriptor, schema, [{ spec }]))
    }
  },
)

type Managed = (typeof managed)[number]['descriptor']

interface Step {
  readonly spec: Spec
  /** The content of Secrets and ConfigMaps. Default: `INPUTS`. */
  readonly texts?: Texts
}

/** The final state of an object that followed these steps in sequence. */
async function lived(descriptor: Managed, schema: SchemaNode, steps: readonly Step[]): Promise<unknown> {
  let texts = INPUTS
  const life = new EmulatedLife(
    api,
    descriptor,
    surroundings(() => texts),
  )
  const last = steps.at(-1)?.spec ?? {}
  try {
    for (const step of steps) {
      texts = step.texts ?? INPUTS
      await life.settle(withDefaults(schema, step.spec) as CommonSpec)
    }
    // A default means the same whether or not the apiserver filled it in.
    expect(await life.left(last)).toEqual([])
    const shown = await life.shown()
    return { shown: meaningOf(last, shown), target: storedTarget(descriptor, shown.object.id) }
  } finally {
    await life.end()
  }
}

/** The only field that the API stores in full and does not show in full (`api-decisions.md § Values`). */
function storedTarget({ identity: { collections } }: Managed, id: string): unknown {
  const accounts = Object.values(emulator.admin.snapshot().accounts)
  const stored = accounts.flatMap(({ objects: held }) => collections.flatMap(({ path }) => held[path] ?? []))
  return stored.find((each) => each.id === id)?.target
}

test('values are given only for places that there are', () => {
  const stale = managed.flatMap(({ kind, schema }) => {
    const paths = pathsOf(schema)
    return Object.keys(testsOf(kind).places).filter((path) => !paths.includes(path))
  })
  expect(stale).toEqual([])
})
