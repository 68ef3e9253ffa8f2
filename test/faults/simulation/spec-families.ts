import fc from 'fast-check'
import { kinds } from '../../../src/kinds/index.ts'
import type { CommonSpec } from '../../../src/managed/descriptor/common.ts'
import type { FoundReference } from '../../../src/managed/descriptor/references.ts'
import { withDefaults } from '../../../src/schema/admission.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { keepsAllRules, withFixedFields } from '../../builders/schema-rules.ts'
import { type Places, type Spec, specsFrom } from '../../builders/schema-specs.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { namedResources, testsOf } from '../../kinds/lookup.ts'

export const managed = kinds.filter((descriptor) => descriptor.role === 'managed')

export type Managed = (typeof managed)[number]

/** Random specs of one kind, generated from its schema. Any may follow any other: they agree in immutable fields. */
export interface Family {
  /** `Edge 2`. */
  readonly title: string
  readonly descriptor: Managed
  readonly schema: SchemaNode
  readonly specs: readonly Spec[]
  /** What they refer to by name, all together. */
  readonly needs: readonly Manifest[]
  /** Kinds of all their references, of any form, and their own. */
  readonly kinds: ReadonlySet<string>
}

/** Number of specs from which the members of a family are chosen. */
const POOL = 120

/** Shortly before the simulation begins: a certificate that begins then, without an end, has not expired. */
const LATELY = ['2025-12-31T23:00:00Z', '2025-12-31T20:15:30.5+02:00', '2025-12-31T07:00:00-11:00'] as const

/** All live in the existing account and are managed: only then does the spec determine the object. */
const COMMON: Places = {
  'spec.accountRef': fc.constant({ kind: 'Account', name: 'default' }),
  'spec.managementPolicy': fc.constant('Manage'),
  'spec.externalID': fc.constant(undefined),
  'spec.validAfter': fc.constantFrom(...LATELY),
  // A foreign domain gets no certificate before it has DNS records.
  'spec.domain': fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/).map((label) => `${label}.tunnel.example`),
}

/**
 * `count` families of a kind, each of `size` members. @throws Error if rules leave too few that may follow each other
 */
export function familiesOf(descriptor: Managed, count: number, size: number, seed: number): readonly Family[] {
  const { kind, spec } = descriptor.definition
  const schema = toStructural(spec, 'spec')
  const places = { ...testsOf(kind).places, ...COMMON }
  const all = specsFrom(schema, places)
  return Array.from({ length: count }, (_, index) => {
    const pool = fc.sample(all, { seed: seed + index, numRuns: POOL })
    const specs = membersOf(descriptor, schema, pool, size)
    if (specs.length < size) throw new Error(`${kind} ${index}: only ${specs.length} specs that may follow each other`)
    const references = referencesOf(descriptor, schema, specs)
    const needs = namedResources.filter((each) =>
      references.some(({ kind: to, ref }) => to === each.kind && ref.name === each.name),
    )
    const concerned = new Set([kind, ...references.map((reference) => reference.kind)])
    return { title: `${kind} ${index}`, descriptor, schema, specs, needs, kinds: concerned }
  })
}

function membersOf(descriptor: Managed, schema: SchemaNode, pool: readonly Spec[], size: number): readonly Spec[] {
  const [base = {}] = pool
  const members: Spec[] = [base]
  for (const other of pool) {
    if (members.length === size) break
    const spec = withFixedFields(schema, base, other)
    const isNew = !members.some((member) => JSON.stringify(member) === JSON.stringify(spec))
    const fits = members.every((member) => mayFollow(schema, member, spec) && mayFollow(schema, spec, member))
    if (isNew && fits && keepsAllRules(schema, spec, 'spec') && descriptor.problems(spec as CommonSpec).length === 0) {
      members.push(spec)
    }
  }
  return members
}

function mayFollow(schema: SchemaNode, before: Spec, after: Spec): boolean {
  return JSON.stringify(withFixedFields(schema, before, after)) === JSON.stringify(after)
}

function referencesOf(descriptor: Managed, schema: SchemaNode, specs: readonly Spec[]): readonly FoundReference[] {
  return specs.flatMap((spec) => descriptor.references.of(withDefaults(schema, spec) as CommonSpec))
}
