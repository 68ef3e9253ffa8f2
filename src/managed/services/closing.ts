import { type CustomResource, internalOf, shortName } from '../cr.ts'
import type { ManagedContext } from '../reconcile/context.ts'
import { mayHoldObject } from '../references/dependents.ts'
import { refusalByName } from '../references/usable.ts'
import type { ServicePart } from './objects.ts'

/**
 * Keeps an Edge closed while it cannot be restricted as its Service asks. An Edge that waits for a policy goes on
 * serving as it did, and that may be everyone (docs/decisions/0043-services-of-type-load-balancer.md).
 */

interface EdgeFields {
  readonly backend: object
  readonly hostports?: readonly object[]
  readonly ipRestriction?: { readonly ipPolicyRefs?: readonly PolicyReference[] } | null
}

interface PolicyReference {
  readonly name?: string
}

type Known = Pick<ManagedContext, 'kinds' | 'resources'>

/**
 * Why an Edge that may be serving cannot be restricted at once as `wanted` says; undefined if it can, already is, or
 * need not be. Without an object it has nothing to close, and is made with all of its policies.
 */
export function cannotRestrict(known: Known, edge: CustomResource, wanted: ServicePart): string | undefined {
  const spec = fieldsOf(wanted)
  const asked = policiesOf(spec)
  if (asked.length === 0 || !mayHoldObject(edge) || isSameSet(asked, sentPolicies(edge))) return undefined
  for (const { kind, ref } of known.kinds.managedKind(edge.kind)?.references.of(spec as never) ?? []) {
    const refusal = refusalOf(known, edge, kind, ref)
    if (refusal !== undefined) return `${shortName({ kind, name: ref.name ?? '' })} ${refusal}`
  }
  return undefined
}

/**
 * `wanted` without a way in: it names no Backend that is in use, and of the policies that the Edge names already it
 * keeps those that it need not wait for, since it would wait with the rest. It listens where it did.
 */
export function closed(known: Known, edge: CustomResource, wanted: ServicePart): ServicePart {
  const { hostports: _, ...spec } = fieldsOf(wanted)
  const kept = refsIn(edge.spec as unknown as EdgeFields).filter((ref) => {
    return refusalOf(known, edge, 'IPPolicy', ref) === undefined
  })
  const ipRestriction = kept.length === 0 ? null : { enabled: true, ipPolicyRefs: kept }
  return { ...wanted, content: { spec: { ...spec, backend: { ...spec.backend, enabled: false }, ipRestriction } } }
}

function refusalOf({ kinds, resources }: Known, edge: CustomResource, kind: string, ref: PolicyReference) {
  const refusal = refusalByName({ kinds, resources }, edge, { kind, ref })
  if (refusal !== undefined) return refusal
  const target = resources.get({ kind, namespace: edge.metadata.namespace, name: ref.name ?? '' })
  const account = resources.accountKeyOf(edge)
  const isElsewhere = target !== undefined && account !== undefined && !resources.livesIn(target, account)
  return isElsewhere ? 'is in another account: name one of the account of the Service' : undefined
}

function fieldsOf({ content }: ServicePart): EdgeFields {
  return content.spec as EdgeFields
}

function refsIn({ ipRestriction }: EdgeFields): readonly PolicyReference[] {
  return ipRestriction?.ipPolicyRefs ?? []
}

function policiesOf(spec: EdgeFields): readonly string[] {
  return refsIn(spec).flatMap(({ name }) => name ?? [])
}

/** The policies by which the object of the Edge restricts for certain: a write may have dropped any other. */
function sentPolicies(edge: CustomResource): readonly string[] {
  return (internalOf(edge).references ?? []).flatMap(({ kind, name }) => (kind === 'IPPolicy' ? (name ?? []) : []))
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  const [one, other] = [new Set(left), new Set(right)]
  return one.size === other.size && left.every((each) => other.has(each))
}
