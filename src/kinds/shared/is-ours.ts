import type { Desired } from '../../managed/descriptor/desired.ts'

/** Whether a module that the spec no longer names was added by Culvert. */
export function isOurs({ status }: Pick<Desired<unknown>, 'status'>, module: string): boolean {
  return (status.internal?.appliedModules ?? []).includes(module)
}
