import type { LabelSelector } from './label-selector.ts'

/**
 * How far the objects of a kind reach. `namespace`: others are affected only if they refer to them. `account`: they
 * open, close or watch the whole account, or objects of others in it. A ClusterAccount allows the latter only to
 * namespaces for which an entry of `access` names the kind.
 */
export type Reach = 'namespace' | 'account'

/**
 * How resources of a namespace may use objects of the account that no resource holds; each level includes the one
 * before.
 */
export const unmanagedObjects = ['Deny', 'Reference', 'Adopt'] as const

export type UnmanagedObjects = (typeof unmanagedObjects)[number]

/** Whether the allowed level includes the requested one. */
export function includes(allowed: UnmanagedObjects, asked: UnmanagedObjects): boolean {
  return unmanagedObjects.indexOf(allowed) >= unmanagedObjects.indexOf(asked)
}

/** One entry of `spec.access` of a ClusterAccount: which namespaces may use it, and for what. */
export interface AccessEntry {
  readonly namespaceSelector: LabelSelector
  /** Absent: every kind whose reach is its namespace. */
  readonly kinds?: readonly string[]
  /** Absent: `Deny`. */
  readonly unmanagedObjects?: UnmanagedObjects
  /** Domain names, or `*.` and a name for everything below it. Absent: any. */
  readonly domains?: readonly string[]
  /**
   * Labels that a selection of tunnels must include, and the only values of these labels with which tunnels may be
   * bound. Absent: any.
   */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * For all resources together of each namespace that the entry selects; the smallest of several entries counts.
   * Absent: no limit by this entry.
   */
  readonly requestsPerMinute?: number
}

/** What a spec needs of the things that all users of an account share, each with its field. */
export interface AccessNeeds {
  /** DNS names; `*.` and a name means everything below it, and `*` every name. */
  readonly domains?: readonly { readonly path: string; readonly domain: string }[]
  /** Labels that select tunnels: all that have them, regardless of who runs them. */
  readonly chosen?: { readonly path: string; readonly labels: Readonly<Record<string, string>> }
  /** Labels that tunnels may be bound with; `*` means every key or value. */
  readonly bound?: readonly { readonly path: string; readonly key: string; readonly value: string }[]
}
