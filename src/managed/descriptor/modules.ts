import type { RemoteObject } from '../../api/types.ts'

/**
 * Parts of an object that people and other programs set too: modules of an edge, endpoint configurations, an uploaded
 * certificate. A part that the spec does not name is left alone, regardless of who created the object, unless the spec
 * named it before, as recorded in `status.internal.appliedModules`. Their names consist of letters.
 */
export interface Modules<Spec> {
  /** Parts that the spec sets, including those that it disables. */
  named(spec: Spec): readonly string[]
  /** Parts that the object has. */
  held(remote: RemoteObject): readonly string[]
}
