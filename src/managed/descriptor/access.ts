import type { LabelSelector } from './label-selector.ts'

/**
 * How far what a kind makes reaches. `namespace`: others notice it only where they refer to it. `account`: it opens,
 * closes or watches the account as a whole, or what others have in it. A ClusterAccount gives the latter to a namespace
 * only where an entry of `access` names the kind.
 */
export type Reach = 'namespace' | 'account'

/** How resources of a namespace may use objects of the account that no resource holds; each includes the one before. */
export const unmanagedObjects = ['Deny', 'Reference', 'Adopt'] as const

export type UnmanagedObjects = (typeof unmanagedObjects)[number]

/** One entry of `spec.access` of a ClusterAccount: who may make what. */
export interface AccessEntry {
  readonly namespaceSelector: LabelSelector
  /** Absent: every kind whose reach is its namespace. */
  readonly kinds?: readonly string[]
  /** Absent: `Deny`. */
  readonly unmanagedObjects?: UnmanagedObjects
  /** Names, and `*.` with a name for all below it. Absent: any. */
  readonly domains?: readonly string[]
  /**
   * Labels that what chooses tunnels has to name, and the only values that what binds tunnels may give them. Absent:
   * any.
   */
  readonly labels?: Readonly<Record<string, string>>
  /** For each namespace that the entry selects. Absent: no limit beside the account's. */
  readonly requestsPerMinute?: number
}

/** What a spec takes for itself of what all who share an account have in common, each with its field. */
export interface Claims {
  /** Names in DNS; `*.` with a name stands for all below it, and `*` for every name. */
  readonly domains?: readonly { readonly path: string; readonly domain: string }[]
  /** Labels by which tunnels are chosen: all that have them, whoever runs them. */
  readonly chosen?: { readonly path: string; readonly labels: Readonly<Record<string, string>> }
  /** Labels that tunnels may have; `*` stands for every key or value. */
  readonly bound?: readonly { readonly path: string; readonly key: string; readonly value: string }[]
}
