import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { until } from '../../cluster/support/wait.ts'

const FILES = new URL('../../../charts/culvert/files/', import.meta.url)
const apiVersion = 'admissionregistration.k8s.io/v1'
const metadata = { name: 'culvert-access' }

async function fileOf(name: string): Promise<object> {
  return parse(await readFile(new URL(name, FILES), 'utf8'))
}

async function apply(cluster: ControlPlane, ...items: readonly object[]): Promise<void> {
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const { code, stderr } = await cluster.kubectl(['apply', '--server-side', '-f', '-'], { stdin })
  if (code !== 0) throw new Error(`kubectl apply failed: ${stderr}`)
}

/** Applies the chart's policy for `access`, as its templates do; resolves once it is in force. */
export async function installAccessPolicy(cluster: ControlPlane): Promise<void> {
  await apply(
    cluster,
    { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec: await fileOf('admission/access.yaml') },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: metadata.name,
        paramRef: { selector: {}, parameterNotFoundAction: 'Allow' },
        validationActions: ['Deny'],
      },
    },
    // Nobody may use it: resources that name it are refused as soon as the policy is in force.
    {
      apiVersion: 'culvert.dev/v1alpha1',
      kind: 'ClusterAccount',
      metadata: { name: 'closed' },
      spec: { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'none' } },
    },
  )
  const stdin = JSON.stringify({
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'IPPolicy',
    metadata: { name: 'probe', namespace: 'default' },
    spec: { rulesSource: 'IPPolicyRules', accountRef: { kind: 'ClusterAccount', name: 'closed' } },
  })
  const look = async () => {
    const { stderr } = await cluster.kubectl(['create', '--dry-run=server', '-f', '-'], { stdin })
    return stderr.includes(metadata.name) ? true : undefined
  }
  await until('the policy is in force', look)
}

/** Roles of every cluster, each of which includes those before it. */
const ROLES = ['view', 'edit', 'admin'] as const

/** Gives a user what the chart adds to one of these roles, in a namespace. */
export async function bindUserRole(
  cluster: ControlPlane,
  {
    user,
    namespace,
    role,
  }: { readonly user: string; readonly namespace: string; readonly role: (typeof ROLES)[number] },
): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io'
  for (const part of ROLES.slice(0, ROLES.indexOf(role) + 1)) {
    const name = `culvert-${part}`
    const { rules } = (await fileOf(`rbac/user-${part}.yaml`)) as { readonly rules: unknown }
    await apply(
      cluster,
      { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata: { name: `${user}-${part}`, namespace },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
        subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
      },
    )
  }
}
