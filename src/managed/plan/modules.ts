import type { RemoteObject } from '../../api/types.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { Modules } from '../descriptor/descriptor.ts'
import type { InternalStatus } from '../descriptor/internal.ts'

/** Modules of an object that are Culvert's, in `status.internal.appliedModules`: those that the spec has named. */

/**
 * The part of `status.internal` that must be durable before an update is sent: the modules that the update takes.
 * @param created modules that the create set, for a spec that may have changed since
 */
export function intendedModules(
  modules: Modules<CommonSpec> | undefined,
  spec: CommonSpec,
  { appliedModules }: InternalStatus,
  created: readonly string[] = [],
): InternalStatus {
  if (modules === undefined) return {}
  const all = [...(appliedModules ?? []), ...modules.named(spec), ...created]
  return all.length === 0 && appliedModules === undefined ? {} : { appliedModules: [...new Set(all)].sort() }
}

/** The same once the object has been read: a module is forgotten once the object no longer has it. */
export function modulesAtRest(
  modules: Modules<CommonSpec> | undefined,
  remote: RemoteObject,
  { appliedModules }: InternalStatus,
): InternalStatus {
  if (modules === undefined || appliedModules === undefined) return {}
  const held = modules.held(remote).filter((name) => appliedModules.includes(name))
  return { appliedModules: [...new Set(held)].sort() }
}
