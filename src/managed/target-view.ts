import type { ManagedContext } from './context.ts'
import { type CustomResource, generationOf, hasFinalizer, isDeleting, nameOf, shortName, statusOf } from './cr.ts'
import type { Fields } from './types/descriptor.ts'
import type { TargetView } from './types/target.ts'

/** `target` as those see it that refer to it, with what it is made up of; `except` is the part that asks and is not counted. */
export function targetView(
  { kinds, resources }: Pick<ManagedContext, 'kinds' | 'resources'>,
  target: CustomResource,
  except?: CustomResource,
): TargetView {
  const own = {
    generation: generationOf(target),
    deleting: isDeleting(target),
    spec: target.spec as Fields,
    status: statusOf(target),
  }
  const partKinds = kinds.managedKind(target.kind)?.parts ?? []
  if (partKinds.length === 0) return { ...own, parts: [], users: [] }
  const referrers = resources
    .referrersOf(nameOf(target))
    .filter(({ metadata }) => metadata.uid !== except?.metadata.uid)
  const parts = referrers.filter(({ kind }) => partKinds.includes(kind))
  const users = referrers.filter((referrer) => !partKinds.includes(referrer.kind) && hasFinalizer(referrer))
  return {
    ...own,
    parts: parts.map((part) => ({
      name: shortName(nameOf(part)),
      generation: generationOf(part),
      deleting: isDeleting(part),
      status: statusOf(part),
    })),
    users: users.map((user) => shortName(nameOf(user))).sort((left, right) => (left < right ? -1 : 1)),
  }
}
