import { nameOf, nameText, type ResourceName } from '../cr.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import type { Dependent } from '../references/dependents.ts'

/**
 * Users of the namespace only learn that another namespace is involved. Which one is shown to administrators: in a
 * metric, and in the log once for each change.
 */
export function noteHeldUp({ context, cr, memory }: Reconciliation, dependents: readonly Dependent[]): void {
  const others = dependents.flatMap(({ resource }) => {
    return resource === undefined || resource.metadata.namespace === cr.metadata.namespace ? [] : [nameOf(resource)]
  })
  const by = others.toSorted((left, right) => (nameText(left) < nameText(right) ? -1 : 1))
  const before = textOf(memory.delete.heldUp?.by ?? [])
  if (textOf(by) === before) return
  memory.delete.heldUp = by.length === 0 ? undefined : { resource: nameOf(cr), by }
  if (by.length === 0) return
  const { kind, namespace, name } = nameOf(cr)
  context.logger.warn(
    { kind, namespace, name, by: by.map(nameText) },
    'a deletion waits for resources of other namespaces',
  )
}

function textOf(names: readonly ResourceName[]): string {
  return names.map(nameText).join(' ')
}
