import type { TSchema } from 'typebox'
import type { KubeObject, ResourceType } from '../../../kube/types.ts'
import type { KindDefinition } from '../../../schema/definition.ts'
import type { Finding } from '../finding.ts'
import { type Patient, unlessForbidden } from '../patient.ts'

const crdType: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}

/** The parts of a schema that are compared, of a CRD's and of our own. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

interface CRD extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name?: string
      readonly served?: boolean
      readonly schema?: { readonly openAPIV3Schema?: Schema }
    }[]
  }
}

/** Whether the CRDs of the cluster are those of this build, by the fields that they have. */
export async function checkCRDs({ cluster }: Pick<Patient, 'cluster'>): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const definitions = cluster.kinds.all.map(({ definition }) => definition)
  const crds = await unlessForbidden('crds', 'CRDs', findings, () => {
    return Promise.all(
      definitions.map(({ plural, group }) => cluster.kube.get<CRD>(crdType, { name: `${plural}.${group}` })),
    )
  })
  if (crds === undefined) return findings
  return definitions.flatMap((definition, index) => compareCRD(definition, crds[index]))
}

const INSTALL = 'kubectl apply --server-side -f crds/'

/** What is wrong with the CRD of a kind; undefined: it is not installed. */
export function compareCRD(definition: KindDefinition, crd: CRD | undefined): readonly Finding[] {
  const { group, plural, version: wanted } = definition
  const about = { check: 'crds', object: `CRD ${plural}.${group}`, command: INSTALL } as const
  if (crd === undefined) return [{ ...about, severity: 'error', cause: 'it is not installed' }]
  const version = crd.spec?.versions?.find(({ name, served }) => name === wanted && served === true)
  if (version === undefined) return [{ ...about, severity: 'error', cause: `it does not serve version ${wanted}` }]
  const installed = version.schema?.openAPIV3Schema?.properties ?? {}
  const built: Readonly<Record<string, Schema>> = {
    spec: schemaOf(definition.spec),
    status: schemaOf(definition.status),
  }
  const lacking = missingIn(built, installed, '')
  if (lacking.length > 0) {
    const cause = `it is older than this build and lacks ${listText(lacking)}`
    return [{ ...about, severity: 'error', cause }]
  }
  const beyond = missingIn({ spec: installed.spec ?? {}, status: installed.status ?? {} }, built, '')
  if (beyond.length === 0) return []
  const cause = `it is newer than this build, which does not know ${listText(beyond)}`
  return [
    {
      ...about,
      severity: 'warning',
      cause,
      remedy: 'Use the culvert of the installed version.',
      command: 'culvert --version',
    },
  ]
}

function schemaOf(schema: TSchema): Schema {
  return schema as Schema
}

/** Paths of fields of `left` that `right` does not have, each without what is below it. */
function missingIn(
  left: Readonly<Record<string, Schema>>,
  right: Readonly<Record<string, Schema>>,
  path: string,
): readonly string[] {
  return Object.entries(left).flatMap(([name, schema]) => {
    const own = path === '' ? name : `${path}.${name}`
    const other = Object.hasOwn(right, name) ? right[name] : undefined
    return other === undefined ? [own] : missingBelow(schema, other, own)
  })
}

function missingBelow(left: Schema, right: Schema, path: string): readonly string[] {
  const items = left.items === undefined || right.items === undefined ? [] : missingBelow(left.items, right.items, path)
  // A map has no named fields on either side.
  const fields = left.properties === undefined ? [] : missingIn(left.properties, right.properties ?? {}, path)
  return [...items, ...fields]
}

const NAMED = 3

function listText(paths: readonly string[]): string {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more fields` : ''
  return `${paths.slice(0, NAMED).join(', ')}${more}`
}
