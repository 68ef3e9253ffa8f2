import { brokenRules } from './cel-rules.ts'
import type { KindDefinition } from './definition.ts'
import type { SchemaNode } from './schema-node.ts'
import { toStructural } from './structural.ts'
import { compile, type Validator } from './validator.ts'

/** A problem with one field, as the apiserver would report it. */
export interface SpecProblem {
  /** `spec.hostports[0].port` */
  readonly path: string
  /** Names the field, and the remedy or what is allowed. */
  readonly message: string
}

/** A spec as the apiserver would store it, or why it would refuse it. */
export type Admitted =
  | { readonly ok: true; readonly spec: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: readonly SpecProblem[] }

/** Judges specs as the apiserver does with a kind's CRD, and fills in its defaults. */
export class SpecAdmission {
  readonly #compiled = new Map<KindDefinition, { readonly node: SchemaNode; readonly validator: Validator<unknown> }>()

  /** @param old the spec before an edit; undefined: there was none, or it is not known */
  admit(definition: KindDefinition, spec: unknown, old?: unknown): Admitted {
    const { node, validator } = this.#of(definition)
    const filled = withDefaults(node, spec)
    const shape = validator.validate(filled)
    // Rules are only evaluated on a value of the right shape.
    const values = shape.ok ? brokenRules(node, filled, 'spec', old).map(named) : shape.errors
    const problems = [...unknownFields(node, spec, 'spec'), ...values]
    return problems.length > 0
      ? { ok: false, problems }
      : { ok: true, spec: filled as Readonly<Record<string, unknown>> }
  }

  #of(definition: KindDefinition) {
    const known = this.#compiled.get(definition)
    if (known !== undefined) return known
    const node = toStructural(definition.spec, 'spec')
    const made = { node, validator: compile(definition.spec, 'spec') }
    this.#compiled.set(definition, made)
    return made
  }
}

/** Fields that the schema lacks: `kubectl apply` refuses them, other clients would lose them silently. */
function unknownFields(node: SchemaNode, value: unknown, path: string): readonly SpecProblem[] {
  const { items, additionalProperties, properties } = node
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.flatMap((item, index) => unknownFields(items, item, `${path}[${index}]`))
  }
  if (typeof value !== 'object' || value === null || node['x-kubernetes-preserve-unknown-fields']) return []
  return Object.entries(value).flatMap(([name, child]): readonly SpecProblem[] => {
    const known = additionalProperties ?? properties?.[name]
    const at = `${path}.${name}`
    if (known !== undefined) return unknownFields(known, child, at)
    const fields = Object.keys(properties ?? {}).join(', ')
    return [{ path: at, message: `${at} is not a field: correct it to one of ${fields}, or remove it` }]
  })
}

function named({ path, message }: SpecProblem): SpecProblem {
  return { path, message: `${path}: ${message}` }
}

/**
 * The value as the apiserver stores it, with the schema's defaults. A field or an entry of a map that is null counts as
 * absent: no field of ours is nullable.
 */
export function withDefaults(node: SchemaNode, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => (node.items === undefined ? item : withDefaults(node.items, item)))
  }
  if (typeof value !== 'object' || value === null) return value
  const { additionalProperties, properties } = node
  if (additionalProperties !== undefined) {
    return mapped(given(value), (child) => withDefaults(additionalProperties, child))
  }
  if (properties === undefined) return value
  const present = given(value, properties)
  const absent = Object.entries(properties).filter(([name, child]) => !(name in present) && child.default !== undefined)
  return {
    ...mapped(present, (child, name) =>
      properties[name] === undefined ? child : withDefaults(properties[name], child),
    ),
    ...Object.fromEntries(absent.map(([name, child]) => [name, child.default])),
  }
}

/** Without nulls; `known`: but for fields that it does not have. */
function given(value: object, known?: Readonly<Record<string, unknown>>): object {
  const entries = Object.entries(value).filter(([name, child]) => child !== null || (known && !(name in known)))
  return Object.fromEntries(entries)
}

function mapped(value: object, map: (child: unknown, name: string) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, map(child, name)]))
}
