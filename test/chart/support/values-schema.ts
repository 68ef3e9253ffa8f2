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

/**
 * Definitions that values.schema.json takes from elsewhere: types of Kubernetes, of the Prometheus operator, and the
 * spec of a ClusterAccount.
 */
export async function borrowedDefinitions(): Promise<Readonly<Record<string, JSONSchema>>> {
  const schemas = await kubernetesSchemas()
  const rename = (name: string): string => `#/definitions/${shortName(name)}`
  const names = reachable(TAKEN, schemas).toSorted((a, b) => (shortName(a) < shortName(b) ? -1 : 1))
  const kubernetes = names.map((name) => [shortName(name), closed(schemas.get(name) ?? {}, rename)] as const)
  return {
    ClusterAccountSpec: clusterAccountSpec(),
    RelabelConfig: closed(await relabelConfig(), rename),
    ...Object.fromEntries(kubernetes),
  }
}

function shortName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** All fields except those with values of their own. With patterns, which the CRD has as rules: Helm evaluates none. */
function clusterAccountSpec(): JSONSchema {
  const definition = kinds.map(({ definition }) => definition).find(({ kind }) => kind === 'ClusterAccount')
  if (definition === undefined) throw new Error('there is no kind ClusterAccount')
  const spec = closed(toStructural(definition.spec, 'spec') as JSONSchema, (name) => name)
  const {
    baseURL: _url,
    apiKeySecretRef: _key,
    ...properties
  } = spec.properties as Readonly<Record<string, JSONSchema>>
  const { required: _required, ...rest } = spec
  return { ...rest, properties }
}

async function relabelConfig(): Promise<JSONSchema> {
  const monitor = await prometheusSchema('servicemonitors')
  return at(monitor, 'properties', 'spec', 'properties', 'endpoints', 'items', 'properties', 'relabelings', 'items')
}

function at(schema: JSONSchema, ...path: readonly string[]): JSONSchema {
  return path.reduce((inner, key) => inner[key] as JSONSchema, schema)
}
