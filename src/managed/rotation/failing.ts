import type { CommonStatus } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { WORDS } from './words.ts'

/** Whether a status says that no successor could be made; undefined where it says nothing of one. */
export function isSuccessionFailing(
  { succession }: Pick<ManagedDescriptor, 'succession'>,
  { conditions = [] }: Pick<CommonStatus, 'conditions'>,
): boolean | undefined {
  if (succession === undefined) return undefined
  const { condition } = WORDS[succession.type]
  const found = conditions.find(({ type }) => type === condition)
  return found === undefined ? undefined : found.status === 'False'
}
