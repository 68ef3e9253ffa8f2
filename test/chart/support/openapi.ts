import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { KUBERNETES_VERSION } from '../../../controlplane/build.ts'
import { goModule } from './tools.ts'

/** A JSON schema, as far as it is used here. */
export type JSONSchema = Readonly<Record<string, unknown>>

/** The version whose CRDs validate the monitors. */
const PROMETHEUS_OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'

/** Groups of the chart's objects, as named in the files of the OpenAPI documents. */
const GROUPS = [
  'api__v1',
  'apis__apps__v1',
  'apis__batch__v1',
  'apis__networking.k8s.io__v1',
  'apis__policy__v1',
].concat([
  'apis__rbac.authorization.k8s.io__v1',
  'apis__apiextensions.k8s.io__v1',
  'apis__admissionregistration.k8s.io__v1',
])

const REFERENCE = '#/components/schemas/'

/** Kubernetes' own schemas by name, such as `io.k8s.api.core.v1.Pod`, from the source of the control plane. */
export async function kubernetesSchemas(): Promise<ReadonlyMap<string, JSONSchema>> {
  const folder = join(await goModule(`k8s.io/kubernetes@v${KUBERNETES_VERSION}`), 'api', 'openapi-spec', 'v3')
  const schemas = new Map<string, JSONSchema>()
  for (const group of GROUPS) {
    const document = JSON.parse(await readFile(join(folder, `${group}_openapi.json`), 'utf8')) as {
      readonly components: { readonly schemas: Readonly<Record<string, JSONSchema>> }
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) schemas.set(name, schema)
  }
  return schemas
}

/** The schema of a CRD's only served version. */
export function crdSchema(text: string): JSONSchema {
  const { spec } = parse(text) as { readonly spec: { readonly versions: readonly CRDVersion[] } }
  const served = spec.versions.find(({ served }) => served)
  if (served === undefined) throw new Error('the CRD serves no version')
  return served.schema.openAPIV3Schema
}

interface CRDVersion {
  readonly served: boolean
  readonly schema: { readonly openAPIV3Schema: JSONSchema }
}

/** The CRD of a kind of the Prometheus operator, such as `servicemonitors`. */
export async function prometheusSchema(plural: string): Promise<JSONSchema> {
  const folder = join(await goModule(PROMETHEUS_OPERATOR), 'example', 'prometheus-operator-crd')
  return crdSchema(await readFile(join(folder, `monitoring.coreos.com_${plural}.yaml`), 'utf8'))
}

/** Keywords of a schema that validate. */
const KEPT: ReadonlySet<string> = new Set(
  (
    'type properties additionalProperties required items oneOf anyOf enum pattern ' +
    'minimum maximum minLength maxLength minItems maxItems maxProperties'
  ).split(' '),
)

/**
 * An OpenAPI schema as a JSON schema that rejects every unknown field. `rename` returns how to write a reference to
 * another schema. Only validating keywords stay.
 */
export function closed(schema: JSONSchema, rename: (name: string) => string): JSONSchema {
  const reference = referenceOf(schema)
  if (reference !== undefined) return { $ref: rename(reference) }
  const result: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (KEPT.has(key)) result[key] = closedMember(key, value, rename)
  }
  // The schema only says that both integers and strings are possible.
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] }
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (schema.properties !== undefined && schema.additionalProperties === undefined && !open) {
    result.additionalProperties = false
  }
  return result
}

function closedMember(key: string, value: unknown, rename: (name: string) => string): unknown {
  const one = (schema: unknown): unknown => (isSchema(schema) ? closed(schema, rename) : schema)
  if (key === 'properties') return Object.fromEntries(Object.entries(value as object).map(([k, v]) => [k, one(v)]))
  if (key === 'items' || key === 'additionalProperties') return one(value)
  if (key === 'oneOf' || key === 'anyOf') return (value as unknown[]).map(one)
  return value
}

/** The name that a schema refers to, directly or, with a description, as the only one of `allOf`. */
function referenceOf(schema: JSONSchema): string | undefined {
  const [only] = Array.isArray(schema.allOf) ? (schema.allOf as JSONSchema[]) : []
  const reference = schema.$ref ?? only?.$ref
  return typeof reference === 'string' ? reference.slice(REFERENCE.length) : undefined
}

/** Names of all schemas that these need, including themselves. */
export function reachable(names: readonly string[], schemas: ReadonlyMap<string, JSONSchema>): readonly string[] {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name)) return
    found.add(name)
    for (const next of mentioned(schemas.get(name) ?? {})) visit(next)
  }
  for (const name of names) visit(name)
  return [...found]
}

function mentioned(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = isSchema(value) ? referenceOf(value) : undefined
  return [...(own === undefined ? [] : [own]), ...Object.values(value).flatMap(mentioned)]
}

function isSchema(value: unknown): value is JSONSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
