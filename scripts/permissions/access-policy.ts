import type { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import { GROUP, VERSION } from '../../src/managed/names.ts'
import { list } from './cel-literals.ts'
import { type Validation, type Variable, writesOf } from './policy-parts.ts'

/** The parts of a ValidatingAdmissionPolicy's `spec` that say what is refused. */
export interface AccessPolicy {
  readonly failurePolicy: 'Ignore'
  readonly paramKind: { readonly apiVersion: string; readonly kind: string }
  readonly matchConstraints: object
  readonly matchConditions: readonly Variable[]
  readonly variables: readonly Variable[]
  readonly validations: readonly Validation[]
}

/**
 * The `spec` of the ValidatingAdmissionPolicy that refuses a resource on apply if `access` of the ClusterAccount that
 * it names does not allow its namespace or kind. It only reports this earlier than the condition would; the operator
 * makes the same checks, and more, before every call.
 *
 * Every ClusterAccount is a parameter, and each is evaluated. A resource that names none is admitted: only the operator
 * knows whether the namespace has an account of its own. So is an update that does not change `accountRef`: its author
 * may have been allowed to create the resource, and must be able to release it.
 *
 * It fails open: for half a minute after the CRDs were installed, the apiserver does not know the kind of the
 * parameters and would refuse every write of every kind.
 */
export function accessPolicy(kinds: KindsRegistry): AccessPolicy {
  const members = [...kinds.managed, ...kinds.commands]
  const within = members.filter(({ reach }) => reach === 'namespace').map(({ definition }) => definition.kind)
  return {
    failurePolicy: 'Ignore',
    paramKind: { apiVersion: `${GROUP}/${VERSION}`, kind: 'ClusterAccount' },
    matchConstraints: writesOf(members),
    matchConditions: [
      { name: 'names-cluster-account', expression: "object.spec.?accountRef.?kind.orValue('') == 'ClusterAccount'" },
      {
        name: 'names-it-anew',
        expression: 'oldObject == null || oldObject.?spec.?accountRef != object.?spec.?accountRef',
      },
    ],
    variables: [
      { name: 'isMeant', expression: 'object.spec.accountRef.name == params.metadata.name' },
      { name: 'labels', expression: 'namespaceObject.metadata.?labels.orValue({})' },
      { name: 'entries', expression: `params.spec.?access.orValue([]).filter(entry, ${selects})` },
      {
        name: 'allowsKind',
        expression: `variables.entries.exists(entry, request.kind.kind in entry.?kinds.orValue(${list(within)}))`,
      },
    ],
    validations: [
      refusal('!variables.isMeant || variables.entries.size() > 0', {
        what: "namespace ' + request.namespace + '",
        remedy: 'have its administrator extend spec.access or label the namespace',
      }),
      refusal('!variables.isMeant || variables.entries.size() == 0 || variables.allowsKind', {
        what: "' + request.kind.kind + ' in namespace ' + request.namespace + '",
        remedy: 'have its administrator add the kind to an entry of spec.access that selects the namespace',
      }),
    ],
  }
}

/** Whether the selector of `entry` selects the labels of the namespace, as in Kubernetes. */
const selects = [
  'entry.namespaceSelector.?matchLabels.orValue({}).all(key, variables.labels[?key] == entry.namespaceSelector.matchLabels[?key])',
  `entry.namespaceSelector.?matchExpressions.orValue([]).all(each, ${[
    "each.operator == 'In' ? variables.labels[?each.key].hasValue() && variables.labels[each.key] in each.values",
    "each.operator == 'NotIn' ? !(variables.labels[?each.key].hasValue() && variables.labels[each.key] in each.values)",
    "variables.labels[?each.key].hasValue() == (each.operator == 'Exists'))",
  ].join(' : ')}`,
].join(' && ')

function refusal(expression: string, { what, remedy }: { readonly what: string; readonly remedy: string }): Validation {
  return {
    expression,
    message: `the ClusterAccount does not allow it: ${remedy}`,
    messageExpression: `'ClusterAccount/' + params.metadata.name + ' does not allow ${what}: ${remedy}'`,
    reason: 'Forbidden',
  }
}
