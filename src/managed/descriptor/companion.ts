import type { RemoteObject } from '../../api/types.ts'
import type { ResourceType } from '../../kube/types.ts'
import type { Fields } from './fields.ts'

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
