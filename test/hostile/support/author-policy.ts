import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import type { AuthorPolicy } from '../../../scripts/permissions/author-policy.ts'
import { until } from '../../cluster/support/wait.ts'

const FILE = new URL('../../../charts/culvert/files/admission/authors.yaml', import.meta.url)
const apiVersion = 'admissionregistration.k8s.io/v1'

/** The chart's policy for authors, without what the chart adds. */
export async function authorPolicyFile(): Promise<AuthorPolicy> {
  return parse(await readFile(FILE, 'utf8')) as AuthorPolicy
}

/**
 * Applies the chart's policy for authors, as its template does, for an operator in the namespace `home`; resolves once
 * `isInForce` says so.
 */
export async function installAuthorPolicy(
  cluster: ControlPlane,
  home: string,
  isInForce: () => Promise<boolean>,
): Promise<void> {
  const metadata = { name: 'culvert-authors' }
  const { variables, ...rules } = await authorPolicyFile()
  const spec = { ...rules, variables: [{ name: 'home', expression: JSON.stringify(home) }, ...variables] }
  const binding = { policyName: metadata.name, validationActions: ['Deny'] }
  const items = [
    { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec },
    { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: binding },
  ]
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const { code, stderr } = await cluster.kubectl(['apply', '--server-side', '-f', '-'], { stdin })
  if (code !== 0) throw new Error(`kubectl apply failed: ${stderr}`)
  await until('the policy is in force', isInForce, { timeoutMs: 60_000 })
}
