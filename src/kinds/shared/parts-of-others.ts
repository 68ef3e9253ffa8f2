import type { RemoteObject } from '../../api/types.ts'
import type { Desired } from '../../managed/descriptor/descriptor.ts'
import type { InternalStatus } from '../../managed/descriptor/internal.ts'
import { sorted } from './remote.ts'

/**
 * Parts of an object that people and other programs set too: modules of an edge, endpoint configurations, an uploaded certificate. What the spec does not
 * name is left alone, whoever made the object, unless the spec named it before: `status.internal.appliedModules` keeps that.
 */
interface Parts<Spec> {
  /** Parts that the spec names. */
  named(spec: Spec): readonly string[]
  /** Parts that the object has. */
  held(remote: RemoteObject): readonly string[]
}

/** The bookkeeping of a descriptor for such parts. One that the object does not have any more is nobody's. */
export function partsOfOthers<Spec>({ named, held }: Parts<Spec>) {
  return {
    internal: (remote: RemoteObject, { appliedModules }: InternalStatus): InternalStatus =>
      appliedModules === undefined
        ? {}
        : { appliedModules: [...sorted(held(remote).filter((part) => appliedModules.includes(part)))] },
    intent: (spec: Spec, { appliedModules }: InternalStatus, sent: readonly string[] = []): InternalStatus => {
      const all = sorted([...(appliedModules ?? []), ...named(spec), ...sent])
      return all.length === 0 && appliedModules === undefined ? {} : { appliedModules: [...all] }
    },
  }
}

/** Whether a part that the spec does not name any more was put there by Culvert. */
export function isOurs({ status }: Pick<Desired<unknown>, 'status'>, part: string): boolean {
  return (status.internal?.appliedModules ?? []).includes(part)
}
