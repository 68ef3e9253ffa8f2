import type { RemoteObject } from '../../api/types.ts'
import type { Desired } from '../../managed/descriptor/descriptor.ts'
import type { InternalStatus } from '../../managed/descriptor/internal.ts'
import { sorted } from './remote.ts'

/**
 * Parts of an object that people and other programs set too: modules of an edge, endpoint configurations, an uploaded
 * certificate. A part that the spec does not name is left alone, regardless of who created the object, unless the spec
 * named it before, as recorded in `status.internal.appliedModules`.
 */
interface Parts<Spec> {
  /** Parts that the spec names. */
  named(spec: Spec): readonly string[]
  /** Parts that the object has. */
  held(remote: RemoteObject): readonly string[]
}

/** What a descriptor records about such parts. A part is forgotten once the object no longer has it. */
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

/** Whether a part that the spec no longer names was added by Culvert. */
export function isOurs({ status }: Pick<Desired<unknown>, 'status'>, part: string): boolean {
  return (status.internal?.appliedModules ?? []).includes(part)
}
