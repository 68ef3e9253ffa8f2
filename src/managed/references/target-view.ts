import { type CustomResource, generationOf, isDeleting, statusOf, targetKeyOf } from '../cr.ts'
import type { Fields } from '../descriptor/common.ts'
import type { PartView, TargetView } from '../descriptor/references.ts'
import type { ManagedContext } from '../run/context.ts'
import { type Grantor, mayHoldObject, messageName, referrersInReach } from './dependents.ts'

/**
 * `target` as its referrers see it, with its parts.
 * @param reader namespace of the readers of the resulting message
 * @param except a part that is not counted: the one that asks
 */
export function targetView(
  context: Pick<ManagedContext, 'kinds' | 'resources'>,
  target: CustomResource,
  reader: string | undefined,
  except?: CustomResource,
): TargetView {
  const own = {
    generation: generationOf(target),
    deleting: isDeleting(target),
    spec: target.spec as Fields,
    status: statusOf(target),
  }
  const partKinds = context.kinds.managedKind(target.kind)?.whole?.parts ?? []
  if (partKinds.length === 0) return { ...own, parts: [], dependents: [] }
  const referrers = referrersInReach(context, targetKeyOf(target), target).filter(
    ({ metadata }) => metadata.uid !== except?.metadata.uid,
  )
  const grantor = { target, resources: context.resources }
  const parts = referrers.filter(({ kind }) => partKinds.includes(kind))
  const dependents = referrers.filter((referrer) => !partKinds.includes(referrer.kind) && mayHoldObject(referrer))
  return {
    ...own,
    parts: parts.map((part) => partView(part, reader, grantor)),
    dependents: dependents
      .map((dependent) => messageName(dependent, reader, grantor))
      .sort((left, right) => (left < right ? -1 : 1)),
  }
}

/** A part as its whole and the other parts see it. */
export function partView(part: CustomResource, reader: string | undefined, grantor?: Grantor): PartView {
  return {
    name: messageName(part, reader, grantor),
    generation: generationOf(part),
    deleting: isDeleting(part),
    spec: part.spec as Fields,
    status: statusOf(part),
  }
}
