import { nameOf } from '../cr.ts'
import { type KindCondition, REFERENCES_GRANTED } from '../descriptor/readiness.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { appliedReference, crosses, crossingOf, isGranted } from './crossings.ts'

/**
 * The condition that names references without a grant that are still in use, from this resource and to it; none while
 * everything is granted.
 */
export function grantConditions(run: Reconciliation): readonly KindCondition[] {
  const messages = [...ownMessages(run), ...dependentsMessage(run)]
  if (messages.length === 0) return []
  return [
    { type: REFERENCES_GRANTED.type, status: 'False', reason: reasons.GrantWithdrawn, message: messages.join('; ') },
  ]
}

function ownMessages({ context: { resources }, cr, descriptor }: Reconciliation): readonly string[] {
  const crossing = descriptor.references.of(cr.spec).filter(({ ref }) => crosses(cr, ref))
  return crossing.flatMap((reference) => {
    if (crossingOf(resources, cr, reference).type !== 'withdrawn') return []
    const { kind, path, ref } = reference
    return [
      `${path}: ${kind} ${ref.namespace}/${ref.name} no longer allows references from namespace ${cr.metadata.namespace}: the one in use is kept until this spec changes; have the namespace added to its spec.allowedReferences, or refer to another`,
    ]
  })
}

/** Resources that have no grant are counted, not named. */
function dependentsMessage({ context: { resources }, cr }: Reconciliation): readonly string[] {
  const own = nameOf(cr)
  const reference = { kind: own.kind, ref: { namespace: own.namespace ?? '', name: own.name } }
  const dependents = resources.crossReferrersOf(own).filter((dependent) => {
    return (
      appliedReference(dependent, reference) !== undefined && !isGranted(resources, cr, dependent.metadata.namespace)
    )
  })
  if (dependents.length === 0) return []
  const [noun, verb] = dependents.length === 1 ? ['resource', 'refers'] : ['resources', 'refer']
  return [
    `${dependents.length} ${noun} in another namespace still ${verb} to this one, until the spec with the reference changes: spec.allowedReferences no longer permits it`,
  ]
}
