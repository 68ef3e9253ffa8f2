import type { CommonStatus } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { WORDS } from './words.ts'

/** Whether a status reports a failed rotation; undefined if it reports nothing about rotation. */
export function isRotationFailing(
  { rotation }: Pick<ManagedDescriptor, 'rotation'>,
  { conditions = [] }: Pick<CommonStatus, 'conditions'>,
): boolean | undefined {
  if (rotation === undefined) return undefined
  const { condition } = WORDS[rotation.type]
  const found = conditions.find(({ type }) => type === condition)
  return found === undefined ? undefined : found.status === 'False'
}
