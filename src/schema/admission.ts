import { brokenRules } from './cel-rules.ts'
import { withDefaults } from './defaults.ts'
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
