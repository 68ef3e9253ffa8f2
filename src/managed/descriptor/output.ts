import type { RemoteObject } from '../../api/types.ts'
import type { ResourceType } from '../../kube/types.ts'
import type { Fields, KeyRef } from './common.ts'
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

/** Which companions the administrator allows. */
export interface CompanionPolicy {
  /** Whether the operator creates any, and has the permissions to. If not, it neither reads nor writes one. */
  readonly enabled: boolean
  /** Names and patterns (`*.example.com`) under which records may be published. */
  readonly domains: readonly string[]
}

/** An object of another operator's type that a CR maintains under its own name, if its spec requests it. */
export interface Companion<Spec> {
  /** The type of such objects; it may not be installed. */
  readonly type: ResourceType
  /** Type of the condition that reports on it. */
  readonly condition: string
  /** The remedy if the type is not installed. */
  readonly remedy: string
  /** How to remove one. */
  readonly toRemove: string
  /** The message when there is nothing to write into one. */
  readonly notNeeded: string
  /** The field of a spec that asks for one, and those that decide what it publishes, as paths below `spec`. */
  readonly fields: { readonly asks: readonly string[]; readonly names: readonly string[] }
  /**
   * A CEL rule for the admission policy that limits what the operator may write into one, over `object`, `oldObject`,
   * which is null for a create, and `variables.dnsDomains`, the patterns of `--dns-domains`. `message` continues "the
   * operator of Culvert".
   */
  readonly admitted: { readonly rule: string; readonly message: string }
  isWanted(spec: Spec): boolean
  /**
   * Why the administrator does not allow what this spec asks for, with field and remedy; undefined if it is allowed.
   */
  notAllowed(spec: Spec, policy: CompanionPolicy): string | undefined
  /**
   * The fields of the object's `spec` that are Culvert's; undefined if there is nothing to write into one. `found` is
   * its current `spec`: entries that others added between ours are kept.
   */
  content(spec: Spec, remote: RemoteObject, found: Fields): Fields | undefined
}
