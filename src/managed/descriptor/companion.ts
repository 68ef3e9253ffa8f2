import type { RemoteObject } from '../../api/types.ts'
import type { ResourceType } from '../../kube/types.ts'
import type { Fields } from './descriptor.ts'

/** What the administrator lets resources keep beside themselves. */
export interface CompanionPolicy {
  /** Whether the operator makes any, and has the rights to. Without, it neither reads nor writes one. */
  readonly enabled: boolean
  /** Names and patterns (`*.example.com`) that records may be published under. */
  readonly domains: readonly string[]
}

/**
 * An object of another operator's type that a CR keeps beside itself, under its own name, where its spec asks for it.
 */
export interface Companion<Spec> {
  /** Where such objects live; the type may not be installed. */
  readonly type: ResourceType
  /** Type of the condition that tells of it. */
  readonly condition: string
  /** What to do where the type is not installed. */
  readonly remedy: string
  /** What to do to be rid of one. */
  readonly toRemove: string
  /** Said when there is nothing to put into one. */
  readonly notNeeded: string
  /** The field of a spec that asks for one, and those that decide what it publishes, by their names from `spec` on. */
  readonly fields: { readonly asks: readonly string[]; readonly names: readonly string[] }
  /**
   * What the operator ever writes into one, for the admission policy: a CEL rule over `object`, `oldObject`, which is
   * null for a create, and `variables.dnsDomains`, the patterns of `--dns-domains`. `message` goes on after "the
   * operator of Culvert".
   */
  readonly admitted: { readonly rule: string; readonly message: string }
  isWanted(spec: Spec): boolean
  /**
   * Why the administrator does not allow what this spec asks for, with field and remedy; undefined where it is allowed.
   */
  notAllowed(spec: Spec, policy: CompanionPolicy): string | undefined
  /**
   * The fields of the object's `spec` that are Culvert's; undefined when there is nothing to put into one. `found` is
   * the `spec` as it stands: what others have put between ours is taken over.
   */
  content(spec: Spec, remote: RemoteObject, found: Fields): Fields | undefined
}
