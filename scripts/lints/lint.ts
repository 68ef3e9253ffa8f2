import type { KindDefinition } from '../../src/schema/definition.ts'
import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { rootSchema } from '../crds/crd.ts'

/** A kind as passed to a lint. */
export interface LintedKind {
  readonly kind: string
  /** Structural schema of the whole resource. */
  readonly schema: SchemaNode
}

/** An objection of a lint. */
export interface Finding {
  /** `Edge.spec.hostports[].port`. */
  readonly place: string
  /** What is wrong, and the remedy. */
  readonly problem: string
}

/** A rule about the shape of the API, checked over all kinds at once, so that it can also report unused exceptions. */
export type Lint = (kinds: readonly LintedKind[]) => readonly Finding[]

/** A field, with its name in its parent; items and values of maps have the name of the list or map. */
export interface Place {
  readonly place: string
  readonly name: string
  readonly node: SchemaNode
}

/** The lints' findings in these kinds, in the order of the lints. */
export function findingsOf(definitions: readonly KindDefinition[], lints: readonly Lint[]): readonly Finding[] {
  const kinds = definitions.map((definition) => ({ kind: definition.kind, schema: rootSchema(definition) }))
  return lints.flatMap((lint) => lint(kinds))
}

/** Every place of the kinds' schemas, parents first. */
export function placesOf(kinds: readonly LintedKind[]): readonly Place[] {
  return kinds.flatMap(({ kind, schema }) => placesBelow({ place: kind, name: kind, node: schema }))
}

function placesBelow(at: Place): readonly Place[] {
  const { place, name, node } = at
  const fields = Object.entries(node.properties ?? {}).map(([field, child]) => {
    return { place: `${place}.${field}`, name: field, node: child }
  })
  const items = node.items ? [{ place: `${place}[]`, name, node: node.items }] : []
  const values = node.additionalProperties ? [{ place: `${place}.*`, name, node: node.additionalProperties }] : []
  return [at, ...[...fields, ...items, ...values].flatMap(placesBelow)]
}
