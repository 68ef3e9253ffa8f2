import type { RemoteObject } from '../../api/types.ts'
import type { CommonStatus, InputSource, KeyRef, Ref } from './common.ts'
import type { Fields } from './fields.ts'
import type { OwnMetadata } from './metadata.ts'

/** The object that a reference resolves to at the API. */
export interface ResolvedTarget {
  readonly id: string
  readonly object: RemoteObject | undefined
}

/**
 * Everything from which the wanted state of the remote object is computed. All I/O is done before; descriptors only
 * compute.
 */
export interface Desired<Spec> {
  readonly spec: Spec
  /** Status as last written by Culvert. */
  readonly status: CommonStatus & Fields
  /** Whether a reference that is `optional` resolves to an object now; true of any other. */
  resolves(kind: string, ref: Ref): boolean
  /** Id of a reference that was found by `references`. */
  id(kind: string, ref: Ref): string
  /** Id and object of such a reference. */
  target(kind: string, ref: Ref): ResolvedTarget
  /**
   * Whether the object of such a reference was deleted at the API after it was applied, for kinds whose ids others may
   * keep after a deletion. Only known if the object has to be sent another list of them.
   */
  isGone(kind: string, ref: Ref): boolean
  /** Value of an input that was found by `inputs`, verbatim. */
  input(source: InputSource, ref: KeyRef): string
  /**
   * Whether the spec decides an API field (or, with children, the field that declares them). Always true, except for an
   * adopted object: there only for fields that the spec sets or has set; the others are left alone.
   */
  decides(field: string): boolean
  /** Wall time in milliseconds. */
  readonly now: number
  /** `metadata` of the object or of one of its children: the marker, together with the user's own keys. */
  marker(nonce: string, metadata?: OwnMetadata): string
}
