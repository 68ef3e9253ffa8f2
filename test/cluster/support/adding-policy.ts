import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { resourceTypeOf } from '../../../src/managed/kinds-registry.ts'
import { HOME_SUFFIX } from './operator-policy.ts'
import { until } from './wait.ts'
import { core, type World } from './world.ts'

/** The label that the policy adds to everything. */
export const ADDED_LABEL = 'example.com/team'

const LABELS = `metadata.labels.${ADDED_LABEL}`
/** Of types for which no labels are described, the operator's policy names the map. */
const BARE = ['leases', 'events', ...kinds.map((kind) => resourceTypeOf(kind).plural)]
const LABELLED = ['deployments', 'serviceaccounts', 'poddisruptionbudgets', 'secrets']

/** What `admissionPolicy.operator.extraFields` has to list for an operator behind the policy. */
export const ADDED_FIELDS: readonly string[] = [
  ...BARE.map((plural) => `${plural}.metadata.labels`),
  ...[...BARE, ...LABELLED].map((plural) => `${plural}.${LABELS}`),
  'deployments.spec.template.spec.tolerations',
  'deployments.spec.template.spec.imagePullSecrets',
]

const add = (path: string, value: string): string => `JSONPatch{op: "add", path: "${path}", value: ${value}}`
const pod = (field: string): string => `object.spec.template.spec.?${field}.orValue([])`
/** The API server of Kubernetes 1.36 panics at a list of objects as a value. */
const listed = (field: string, key: string, item: string): string => {
  const path = `/spec/template/spec/${field}`
  return (
    `(${pod(field)}.size() > 0 ? [] : [${add(path, '[]')}])` +
    ` + (${pod(field)}.exists(each, each.${key} == "added") ? [] : [${add(`${path}/-`, `Object.spec.template.spec.${field}{${item}}`)}])`
  )
}

const MUTATIONS = {
  label: {
    groups: ['*'],
    resources: ['*'],
    expression:
      `(has(object.metadata.labels) ? [] : [${add('/metadata/labels', '{}')}])` +
      ` + [${add(`/metadata/labels/${ADDED_LABEL.replace('/', '~1')}`, '"yes"')}]`,
  },
  pods: {
    groups: ['apps'],
    resources: ['deployments'],
    expression: `${listed('tolerations', 'key', 'key: "added", operator: "Exists"')} + ${listed('imagePullSecrets', 'name', 'name: "added"')}`,
  },
} as const

/** Name of an object that the policy changes for everybody. */
const PROBE = 'probe'

/**
 * Has the API server change what operators create or update, as mutating webhooks do: a label everywhere, and a
 * toleration and imagePullSecrets in Pods. Returns once that is in force.
 */
export async function installAddingPolicy(
  cluster: Pick<ControlPlane, 'kubectl'>,
  { kube, namespace }: Pick<World, 'kube' | 'namespace'>,
): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const items = Object.entries(MUTATIONS).flatMap(([name, { groups, resources, expression }]) => {
    const metadata = { name: `adds-${name}` }
    const rule = { apiGroups: groups, apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources }
    const isOperator = `request.userInfo.username.matches('^system:serviceaccount:[^:]+${HOME_SUFFIX}:[^:]+$')`
    const spec = {
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      matchConstraints: { resourceRules: [rule] },
      matchConditions: [{ name: 'operator', expression: `${isOperator} || object.metadata.name == '${PROBE}'` }],
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
    }
    return [
      { apiVersion, kind: 'MutatingAdmissionPolicy', metadata, spec },
      { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata, spec: { policyName: metadata.name } },
    ]
  })
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const applied = await cluster.kubectl(['apply', '--server-side', '-f', '-'], { stdin })
  if (applied.code !== 0) throw new Error(`the mutating policy was refused: ${applied.stderr}`)
  await until('the mutating policies are in force', async () => {
    const { metadata, spec } = await kube.create<KubeObject & { readonly spec: typeof probe.spec }>(
      { ...core('deployments', 'Deployment'), group: 'apps' },
      { namespace, name: PROBE },
      probe,
      { dryRun: true },
    )
    return metadata.labels?.[ADDED_LABEL] === 'yes' && 'tolerations' in spec.template.spec
  })
}

const labels = { app: PROBE }
const probe = {
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a:1' }] } },
  },
}
