import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import { describeProblem } from './problems.ts'
import { type RawSchema, type SchemaNode, toRaw } from './schema-node.ts'

/** A problem with one field. */
interface Problem {
  /** `spec.hostports[0].port`; empty for the value itself. */
  readonly path: string
  /** One sentence that names the path, and the value unless it is secret. */
  readonly message: string
}

type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly Problem[] }

export interface Validator<T> {
  /** Checks everything but CEL rules, which the apiserver evaluates. The value is neither changed nor copied. */
  validate(value: unknown): Validation<T>
}

/** Keywords that only the apiserver acts on. */
const kubernetesKeywords = [
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
  'mustBe',
]

/**
 * A validator of the static type of `schema`, compiled from the same object as the CRD.
 *
 * @param root name that starts every path: `spec`. Default: none.
 */
export function compile<Schema extends TSchema>(schema: Schema, root = ''): Validator<Static<Schema>> {
  return new CompiledValidator<Static<Schema>>(toRaw(schema), root)
}

/** A validator of a structural schema, for defaults. */
export function compileNode(node: SchemaNode): Validator<unknown> {
  return new CompiledValidator<unknown>({ ...node }, '')
}

class CompiledValidator<T> implements Validator<T> {
  readonly #check: ValidateFunction<T>
  readonly #root: string

  constructor(schema: RawSchema, root: string) {
    this.#check = newAjv().compile<T>(schema)
    this.#root = root
  }

  validate(value: unknown): Validation<T> {
    if (this.#check(value)) {
      return { ok: true, value }
    }
    const errors = this.#check.errors ?? []
    return { ok: false, errors: errors.map((error) => this.#problem(error)) }
  }

  #problem(error: ErrorObject): Problem {
    const path = joinPath(this.#root, error)
    return { path, message: describeProblem(error, path) }
  }
}

function newAjv(): Ajv2020 {
  // Compiling the meta-schema would take four times as long as the schema; the builders' types and strict mode already
  // check it.
  const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, meta: false, validateSchema: false })
  ajv.addVocabulary(kubernetesKeywords)
  ajv.addFormat('date-time', isDateTime)
  ajv.addFormat('password', true)
  ajv.addFormat('int32', { type: 'number', validate: (value) => value >= -(2 ** 31) && value < 2 ** 31 })
  // JavaScript cannot represent larger int64 values exactly, so such a value would silently become another one.
  ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger })
  return ajv
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i

function isDateTime(value: string): boolean {
  const [year, month, day] = value.slice(0, 10).split('-').map(Number)
  if (!rfc3339.test(value) || year === undefined || month === undefined || day === undefined) {
    return false
  }
  const date = new Date(Date.UTC(2000, month - 1, day))
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/**
 * `/hostports/0/port` becomes `spec.hostports[0].port`; for a missing field, the path is that of the field, not of its
 * parent.
 */
function joinPath(root: string, error: ErrorObject): string {
  const steps = error.instancePath.split('/').slice(1)
  if (error.keyword === 'required') {
    steps.push(String(error.params.missingProperty))
  }
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce((path, name) => (/^\d+$/.test(name) ? `${path}[${name}]` : path ? `${path}.${name}` : name), root)
}
