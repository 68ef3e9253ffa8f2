import type { Readiness } from '../../managed/descriptor/descriptor.ts'
import type { Fields } from '../../managed/descriptor/fields.ts'
import type { InternalStatus } from '../../managed/descriptor/internal.ts'
import type { Release } from '../../managed/descriptor/target.ts'
import { reasons } from '../../managed/status/reasons.ts'

/**
 * Defaults that suit most kinds: no references, nothing fixed, marked in metadata, no secrets, Ready as soon as the
 * remote object equals the spec, and usable as soon as it exists.
 */
export const plain = {
  refersTo: [],
  references: () => [],
  inputs: () => [],
  problems: (): readonly string[] => [],
  inputProblems: (): readonly string[] => [],
  createOnly: [],
  markedBy: 'metadata',
  updateOnly: [],
  secretFields: [],
  openFields: [],
  comparable: (fields: Fields): Fields => fields,
  modules: (): readonly string[] => [],
  internal: (): InternalStatus => ({}),
  intent: (): InternalStatus => ({}),
  parts: [],
  mayDeletePart: (): Release => ({ type: 'delete' }),
  unusable: (): string | undefined => undefined,
} as const

/** Ready, because nothing at the API happens after the write. */
export function available(message: string): Readiness {
  return { ready: true, reason: reasons.Available, message }
}
