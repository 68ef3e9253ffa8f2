import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { closed, crdSchema, type JSONSchema, kubernetesSchemas, prometheusSchema } from './openapi.ts'
import { ROOT } from './paths.ts'

/** The name of a schema file, as in kubeconform's template. */
export const SCHEMA_TEMPLATE = '{{.Group}}_{{.ResourceAPIVersion}}_{{.ResourceKind}}.json'

const DEFINITIONS = 'definitions.json'

/**
 * Writes a schema for every kind that the chart may create: Kubernetes' own, the Prometheus operator's, and Culvert's.
 * All reject unknown fields.
 */
export async function writeObjectSchemas(folder: string): Promise<void> {
  const schemas = await kubernetesSchemas()
  const rename = (name: string): string => `${DEFINITIONS}#/definitions/${name}`
  const definitions = [...schemas].map(([name, schema]) => [name, closed(schema, rename)] as const)
  await writeFile(join(folder, DEFINITIONS), JSON.stringify({ definitions: Object.fromEntries(definitions) }))
  for (const [name, schema] of schemas) {
    for (const kind of kindsOf(schema)) await write(folder, kind, { $ref: rename(name) })
  }
  for (const [plural, kind] of [
    ['servicemonitors', 'ServiceMonitor'],
    ['podmonitors', 'PodMonitor'],
    ['prometheusrules', 'PrometheusRule'],
  ] as const) {
    await write(folder, { group: 'monitoring.coreos.com', version: 'v1', kind }, ofCRD(await prometheusSchema(plural)))
  }
  const crds = join(ROOT, 'crds')
  for (const file of await readdir(crds)) {
    const text = await readFile(join(crds, file), 'utf8')
    const kind = /^ {4}kind: (\w+)$/m.exec(text)?.[1] ?? ''
    await write(folder, { group: 'culvert.dev', version: 'v1alpha1', kind }, ofCRD(crdSchema(text)))
  }
}

/** CRDs leave metadata to the API server. */
function ofCRD(schema: JSONSchema): JSONSchema {
  const { properties, ...rest } = closed(schema, (name) => name) as { readonly properties: JSONSchema }
  return { ...rest, properties: { ...properties, metadata: { type: 'object' } } }
}

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

function kindsOf(schema: JSONSchema): readonly GroupVersionKind[] {
  return (schema['x-kubernetes-group-version-kind'] ?? []) as readonly GroupVersionKind[]
}

async function write(folder: string, { group, version, kind }: GroupVersionKind, schema: JSONSchema): Promise<void> {
  // kubeconform uses the version as the group if there is none.
  await writeFile(join(folder, `${group || version}_${version}_${kind.toLowerCase()}.json`), JSON.stringify(schema))
}
