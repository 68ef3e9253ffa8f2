import type { KubeObject, ResourceType } from '../../../kube/types.ts'
import { type CustomResource, needsApproval } from '../../../managed/cr.ts'
import { type LabelSelector, selects } from '../../../managed/descriptor/label-selector.ts'
import { APPROVED_PLAN } from '../../../managed/names.ts'
import type { Finding } from '../finding.ts'
import { objectText, type Patient, unlessForbidden } from '../patient.ts'

function admissionType(plural: string, kind: string): ResourceType {
  return { group: 'admissionregistration.k8s.io', version: 'v1', plural, kind, namespaced: false }
}

const policyType = admissionType('validatingadmissionpolicies', 'ValidatingAdmissionPolicy')
const bindingType = admissionType('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding')

/** The parts of a ValidatingAdmissionPolicy that are read. */
export interface AdmissionPolicy extends KubeObject {
  readonly spec?: { readonly validations?: readonly { readonly expression?: string }[] }
}

/** The parts of a ValidatingAdmissionPolicyBinding that are read. */
export interface AdmissionBinding extends KubeObject {
  readonly spec?: {
    readonly policyName?: string
    readonly validationActions?: readonly string[]
    readonly matchResources?: { readonly namespaceSelector?: LabelSelector }
  }
}

/** Whether an admission policy reserves the approval of plans, where any resource has them. */
export async function checkApprovals({ cluster: { kube }, members }: Patient): Promise<readonly Finding[]> {
  const planned = members.filter(needsApproval)
  if (planned.length === 0) return []
  const findings: Finding[] = []
  const read = await unlessForbidden('approvals', 'the policy for authors', findings, () => {
    return Promise.all([kube.listAll<AdmissionPolicy>(policyType, []), kube.listAll<AdmissionBinding>(bindingType, [])])
  })
  return read === undefined ? findings : unreserved(planned, ...read)
}

/** A finding if anyone who may edit one of these resources may approve its plans too. */
export function unreserved(
  planned: readonly CustomResource[],
  policies: readonly AdmissionPolicy[],
  bindings: readonly AdmissionBinding[],
): readonly Finding[] {
  const names = new Set(policies.filter(reservesApproval).map(({ metadata }) => metadata.name))
  const inForce = bindings.filter(({ spec }) => {
    return names.has(spec?.policyName ?? '') && spec?.validationActions?.includes('Deny') === true
  })
  const [first, ...others] = planned.filter(({ metadata: { namespace = '' } }) => {
    // The chart selects by this label, which every namespace has; others would have to be read.
    const labels = { 'kubernetes.io/metadata.name': namespace }
    return !inForce.some(({ spec }) => selects(spec?.matchResources?.namespaceSelector ?? {}, labels))
  })
  if (first === undefined) return []
  const more = others.length === 0 ? '' : `, and ${others.length} more with managementPolicy: Plan`
  return [
    {
      severity: 'warning',
      check: 'approvals',
      object: objectText(first),
      cause: `anyone who may edit it may approve its plans${more}: no admission policy checks the permission`,
      remedy: 'Set admissionPolicy.authors.enabled=true in the chart (docs/approvals.md).',
      command: 'kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings',
    },
  ]
}

function reservesApproval({ spec }: AdmissionPolicy): boolean {
  return (spec?.validations ?? []).some(({ expression = '' }) => {
    return expression.includes(APPROVED_PLAN) && expression.includes('authorizer')
  })
}
