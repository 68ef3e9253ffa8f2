import { kinds } from '../../../src/kinds/index.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { closed, type JSONSchema, kubernetesSchemas, prometheusSchema, reachable } from './openapi.ts'

/** Kubernetes types that values use unchanged. */
const TAKEN = [
  'core.v1.Affinity',
  'core.v1.EnvVar',
  'core.v1.LocalObjectReference',
  'core.v1.PodSecurityContext',
  'core.v1.ResourceRequirements',
  'core.v1.SecurityContext',
  'core.v1.Toleration',
  'core.v1.TopologySpreadConstraint',
  'core.v1.Volume',
  'core.v1.VolumeMount',
  'networking.v1.NetworkPolicyEgressRule',
  'networking.v1.NetworkPolicyIngressRule',
  'networking.v1.NetworkPolicyPeer',
  'rbac.v1.Subject',
].map((name) => `io.k8s.api.${name}`)

/** Definitions that values.schema.json takes from elsewhere: types of Kubernetes and of the Prometheus operator. */
export async function borrowedDefinitions(): Promise<Readonly<Record<string, JSONSchema>>> {
  const schemas = await kubernetesSchemas()
  const rename = (name: string): string => `#/definitions/${shortName(name)}`
  const names = reachable(TAKEN, schemas).toSorted((a, b) => (shortName(a) < shortName(b) ? -1 : 1))
  const kubernetes = names.map((name) => [shortName(name), closed(schemas.get(name) ?? {}, rename)] as const)
  return {
    RelabelConfig: closed(await relabelConfig(), rename),
    ...Object.fromEntries(kubernetes),
    ResourceRequirements: withResourceNames(schemas.get('io.k8s.api.core.v1.ResourceRequirements') ?? {}, rename),
  }
}

/** Names of resources as Kubernetes knows them: it takes any, so that a misspelt limit would limit nothing. */
const RESOURCE_NAME = '^(cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMGT]i|[a-z0-9.-]+/[A-Za-z0-9._-]+)$'

function withResourceNames(requirements: JSONSchema, rename: (name: string) => string): JSONSchema {
  const schema = closed(requirements, rename)
  const properties = schema.properties as Readonly<Record<string, JSONSchema>>
  const named = ['limits', 'requests'].map((key) => [
    key,
    {
      type: 'object',
      patternProperties: { [RESOURCE_NAME]: properties[key]?.additionalProperties },
      additionalProperties: false,
    },
  ])
  return { ...schema, properties: { ...properties, ...Object.fromEntries(named) } }
}

function shortName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** The spec of a ClusterAccount. With patterns, which the CRD has as rules: Helm evaluates none. */
export function clusterAccountSpec(): JSONSchema {
  const definition = kinds.map(({ definition }) => definition).find(({ kind }) => kind === 'ClusterAccount')
  if (definition === undefined) throw new Error('there is no kind ClusterAccount')
  return closed(toStructural(definition.spec, 'spec') as JSONSchema, (name) => name)
}

async function relabelConfig(): Promise<JSONSchema> {
  const monitor = await prometheusSchema('servicemonitors')
  return at(monitor, 'properties', 'spec', 'properties', 'endpoints', 'items', 'properties', 'relabelings', 'items')
}

function at(schema: JSONSchema, ...path: readonly string[]): JSONSchema {
  return path.reduce((inner, key) => inner[key] as JSONSchema, schema)
}
