import type { RemoteObject } from '../../api/types.ts'
import type { KeyRef } from './common.ts'
import type { Desired } from './desired.ts'

/** An object in the CR's namespace that outputs are written into. */
export interface OutputTarget {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
}

/**
 * Labels and annotations that the spec wants on that object besides Culvert's own: for reflectors, reloaders and the
 * like.
 */
export interface OutputTemplate {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * A secret that the API returns only once, in the answer to the create. It is written to one key of a Secret and kept
 * nowhere else; if it is lost there, the object is replaced.
 */
export interface OneTimeOutput<Spec> {
  readonly type: 'one-time'
  /** API field of the answer; one of the collection's `oneTimeFields`. */
  readonly field: string
  /**
   * The problem with the secret in the answer to a create, to follow "the API returned", without its value;
   * undefined if it may be written.
   */
  problem(answer: RemoteObject): string | undefined
  /** The secret is a key of the API itself: an account may use it (`management-api.md § Authentication`). */
  readonly opensAccounts: boolean
  target(spec: Spec, name: string): KeyRef
  template(spec: Spec): OutputTemplate
}

/** Texts that can be computed at any time from the spec and the remote object. */
export interface DerivedOutput<Spec> {
  readonly type: 'derived'
  /** Undefined: the spec asks for none. */
  target(spec: Spec, name: string): OutputTarget | undefined
  template(spec: Spec): OutputTemplate
  /**
   * The problem with what the API returned, to follow "the API returned"; undefined if the texts may be written.
   */
  problem(remote: RemoteObject): string | undefined
  /** The problem with other objects from which the texts are computed, as a sentence. Absent: there are none. */
  sourceProblem?(desired: Desired<Spec>): string | undefined
  /** The keys of the target with their texts. */
  data(desired: Desired<Spec>, remote: RemoteObject): Readonly<Record<string, string>>
}
