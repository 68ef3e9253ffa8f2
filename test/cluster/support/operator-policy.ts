import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { type Installation, operatorPolicy, policySpec } from '../../../scripts/permissions/operator-policy.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'
import { digestOf } from '../../../src/util/json.ts'
import { until } from './wait.ts'

/** Name of the policy and of its binding. */
export const OPERATOR_POLICY = 'culvert-operators'

/** Suffix of the namespaces that suites create for their operators' ServiceAccounts. */
export const HOME_SUFFIX = '-op'

/**
 * One policy for all operators of a suite, where the chart has one for each: it distinguishes them by the namespaces of
 * their ServiceAccounts. An operator that may list namespaces has rights in the whole cluster; others watch the
 * namespace that theirs is named after.
 */
const everyOperator: Installation = {
  isOperator: `request.userInfo.username.matches('^system:serviceaccount:[^:]+${HOME_SUFFIX}:[^:]+$')`,
  home: "request.userInfo.username.split(':')[2]",
  leases: "['culvert', 'blue', 'green']",
  hold: "variables.home + '-culvert-hold'",
  watched:
    "authorizer.group('').resource('namespaces').check('list').allowed() ? []" +
    ` : [variables.home.substring(0, variables.home.size() - ${HOME_SUFFIX.length})]`,
  protectedNamespaces: "['protected', 'controllers-*']",
  dnsDomains: "['*.example.com', 'listed.example.org']",
  agentImage: "'culvert:test'",
  serviceClasses: "['culvert.dev/edge', '']",
  templates: 'true',
  agentImages: "['registry.example.com/agents/*']",
  metadataKeys: "['example.com/*', 'team']",
  priorityClasses: "['system-cluster-critical']",
  // Emulators listen at ports that are not known before.
  gateways:
    "(request.resource.resource != 'deployments' || object == null ? [] : object.spec.template.spec.containers[0].?args.orValue([])" +
    ".filter(word, word.startsWith('--gateway=127.')).map(word, word.substring(10))) + ['ssh.example.com:22', 'gateway.example:22', 'gateway.example.com:22']",
  extraFields: '[]',
}

/**
 * Applies the chart's admission policy to every operator of a cluster; returns once it is in force.
 * @param different from the policy of the suites
 */
export async function installOperatorPolicy(
  cluster: Pick<ControlPlane, 'kubectl'>,
  different: Partial<Installation> = {},
): Promise<void> {
  const metadata = { name: OPERATOR_POLICY }
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const spec = policySpec(operatorPolicy(new KindsRegistry(kinds)), { ...everyOperator, ...different })
  const message = `the policy ${digestOf(spec)} is in force`
  const validations = [{ expression: `object == null || object.metadata.name != '${PROBE}'`, message }]
  const items = [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: { ...spec, validations: [...validations, ...spec.validations] },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: OPERATOR_POLICY, validationActions: ['Deny', 'Audit'] },
    },
  ]
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const applied = await cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { stdin })
  if (applied.code !== 0) throw new Error(`the admission policy was refused: ${applied.stderr}`)
  await until('the admission policy is in force', () => isInForce(cluster, message))
}

/** Name of an object that the policy refuses to every operator, with a message that says which policy does so. */
const PROBE = 'policy-probe'

/**
 * The API server follows policies by watches: an earlier one may still be in force. An administrator impersonating an
 * operator is refused only by the policy.
 */
async function isInForce(cluster: Pick<ControlPlane, 'kubectl'>, message: string): Promise<boolean> {
  const who = ['--as', `system:serviceaccount:nobody${HOME_SUFFIX}:culvert`, '--as-group', 'system:masters']
  const { code, stderr } = await cluster.kubectl([
    ...who,
    'create',
    'configmap',
    PROBE,
    '-n',
    'default',
    '--dry-run=server',
  ])
  if (code !== 0 && !stderr.includes(OPERATOR_POLICY)) throw new Error(`the policy cannot be tried: ${stderr}`)
  return stderr.includes(message)
}
