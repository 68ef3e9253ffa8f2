import type { RemoteObject } from '../../api/types.ts'

/**
 * Rotation of a token, which can also be requested, or renewal of a certificate. The new object is always created
 * first.
 */
export interface Rotation<Spec> {
  readonly type: 'rotation' | 'renewal'
  /** Wall time in milliseconds from which the object must be replaced; undefined: never by itself. */
  dueAt(view: RotationView<Spec>): number | undefined
  /** How long the former object remains valid after the new one is created, in milliseconds. */
  overlapMs(spec: Spec): number
  /** API fields that a new object never takes over from the former one. */
  readonly fresh?: readonly string[]
}

export interface RotationView<Spec> {
  readonly spec: Spec
  /** The object that may be replaced; a token's age is known without it. */
  readonly remote: RemoteObject | undefined
  /** When the token in use was issued, as wall time in milliseconds; undefined if Culvert does not have the token. */
  readonly since: number | undefined
}
