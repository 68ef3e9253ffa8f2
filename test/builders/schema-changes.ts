import fc, { type Arbitrary } from 'fast-check'
import { exclusiveFields } from '../../src/schema/rules.ts'
import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { SchemaCoverage } from './schema-coverage.ts'
import { keepsAllRules, withFixedFields } from './schema-rules.ts'
import { type Places, type Spec, specsFrom } from './schema-specs.ts'

/** A spec and one that may replace it. */
export type Change = readonly [before: Spec, after: Spec]

type Transition = 'added' | 'changed' | 'removed'

/** Number of specs from which examples are made. */
const POOL = 150
/** Number of pairs tried for each field. */
const PAIRS = 400

/** A spec, and another that differs in some or all fields. */
export function changesFrom(node: SchemaNode, places: Places): Arbitrary<Change> {
  const fields = fieldsOf(node)
  const spec = specsFrom(node, places)
  const which = fc.oneof(fc.constant(fields), fc.subarray([...fields], { minLength: 1 }))
  return fc
    .tuple(spec, spec, which)
    .map(([before, other, taken]) => [
      before,
      changed(node, before, other, taken) ?? changed(node, before, other, fields),
    ])
    .filter((change): change is [Spec, Spec] => change[1] !== undefined)
}

/**
 * Changes of each field by itself, if the rules allow it: set, changed, and removed. Then changes that cover the rest
 * of the schema.
 */
export function exampleChanges(node: SchemaNode, places: Places, seed: number): readonly Change[] {
  const pool = fc.sample(specsFrom(node, places), { seed, numRuns: POOL })
  const coverage = new SchemaCoverage(node)
  const found = fieldsOf(node).flatMap((field) => changesOf(node, pool, field))
  for (const spec of found.flat()) coverage.count(spec)
  for (const [index, before] of pool.entries()) {
    const missing = coverage.missing().length
    const other = pool[(index + 1) % pool.length] ?? before
    const after = changed(node, before, other, fieldsOf(node))
    for (const spec of [before, after ?? before]) coverage.count(spec)
    if (coverage.missing().length < missing) found.push([before, after ?? before])
  }
  return found
}

/** Fields that differ in a change. */
export function touched([before, after]: Change): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
}

function changesOf(node: SchemaNode, pool: readonly Spec[], field: string): readonly Change[] {
  const found = new Map<Transition, Change>()
  const taken = [field, ...membersChosenBy(node, field)]
  for (let pair = 0; pair < PAIRS && found.size < 3; pair += 1) {
    const before = pool[pair % pool.length] ?? {}
    const after = changed(node, before, pool[(7 * pair + 1) % pool.length] ?? {}, taken)
    if (after === undefined || !touched([before, after]).includes(field)) continue
    const transition = before[field] === undefined ? 'added' : after[field] === undefined ? 'removed' : 'changed'
    if (!found.has(transition)) found.set(transition, [before, after])
  }
  return [...found.values()]
}

/** Members of the union whose type the field is: they change with it. */
export function membersChosenBy(node: SchemaNode, field: string): readonly string[] {
  const rules = node['x-kubernetes-validations'] ?? []
  return rules.filter(({ rule }) => rule.startsWith(`(self.${field} == '`)).flatMap(exclusiveFields)
}

/** `before` with the fields `taken` from `other`, as far as they may change; undefined if the rules refuse that. */
function changed(node: SchemaNode, before: Spec, other: Spec, taken: readonly string[]): Spec | undefined {
  const source = (field: string): Spec => (taken.includes(field) ? other : before)
  const present = fieldsOf(node).filter((field) => source(field)[field] !== undefined)
  const mixed = Object.fromEntries(present.map((field) => [field, source(field)[field]]))
  const after = withFixedFields(node, before, mixed)
  return keepsAllRules(node, after, 'spec') ? after : undefined
}

function fieldsOf(node: SchemaNode): readonly string[] {
  return Object.keys(node.properties ?? {})
}
