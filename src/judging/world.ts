/** Where a value was read. */
export interface Source {
  /** For people: `IPPolicy/office`, `ipr_2x…`, or words for what the reader may not see. */
  readonly name: string
  /** When it was read from the account, RFC 3339, or how old it can be. Absent for manifests. */
  readonly at?: string | undefined
  /** It belongs to others, and nothing but what it decides is shown. */
  readonly isHidden?: true
  /** The command that changes it, where there is one. */
  readonly command?: string | undefined
}

/** A value and where it was read. */
export interface Read<T> {
  readonly value: T
  readonly source: Source
}

/** A value, or the reason why it is unknown: a clause for people, such as `the account was not read`. */
export type Known<T> = Read<T> | { readonly unknown: string }

export function isKnown<T>(known: Known<T>): known is Read<T> {
  return !('unknown' in known)
}

/**
 * What decides about connections to one edge (`management-api.md § Edges and backends`, `§ IP policies, rules,
 * restrictions`). Objects are named by their ids; an id that a map lacks names nothing.
 */
export interface World {
  /** What serves the hostport; the value is undefined if nothing does. */
  readonly edge: Known<Edge | undefined>
  /** Restrictions of the account of type `endpoints`. An unknown entry: there may be others. */
  readonly restrictions: readonly Known<Restriction>[]
  /** The rules of each IP policy. An unknown entry: there may be others. */
  readonly policies: ReadonlyMap<string, Read<readonly Known<IpRule>[]>>
  /** One or more certificates in PEM, of each authority. */
  readonly authorities: ReadonlyMap<string, Known<string>>
  /** Whether the edge's host has a certificate. */
  readonly certificate: Known<boolean>
  readonly backends: ReadonlyMap<string, Known<Backend>>
}

/** An edge by its enabled modules: a disabled one is the same as none. */
export interface Edge {
  readonly protocol: 'tcp' | 'tls'
  /** The hostport that a connection was made to. */
  readonly host: string
  readonly port: number
  /** Ids of the policies of `ip_restriction`. */
  readonly policies?: readonly string[] | undefined
  /** Rules of `policy`, inbound before outbound. */
  readonly trafficRules?: readonly TrafficRule[] | { readonly unknown: string } | undefined
  readonly termination?: { readonly at: 'edge' | 'upstream'; readonly minVersion?: string | undefined } | undefined
  /** Ids of the authorities of `mutual_tls`. */
  readonly authorities?: readonly string[] | undefined
  readonly backend?: string | undefined
}

export interface Restriction {
  readonly id: string
  readonly isEnforced: boolean
  readonly policies: readonly string[]
}

export interface IpRule {
  readonly id: string
  readonly cidr: string
  readonly action: 'allow' | 'deny'
}

export interface TrafficRule {
  readonly name?: string | undefined
  readonly expressions: readonly string[]
  /** Types of its actions. */
  readonly actions: readonly string[]
}

export type Backend =
  | { readonly type: 'group'; readonly tunnels: Known<number>; readonly sessions: readonly Session[] }
  | { readonly type: 'response' }
  /** Ids of children with weights, 0 to 10000. */
  | { readonly type: 'weighted'; readonly children: readonly (readonly [id: string, weight: number])[] }
  /** Ids of children, the preferred one first. */
  | { readonly type: 'failover'; readonly children: readonly string[] }

/** A session of the credential of a Tunnel that serves a group. */
export interface Session {
  readonly address: string
  readonly version: string
  readonly region: string
}

/** A connection to judge. */
export interface Asked {
  /** IPv4 or IPv6 address of the client. */
  readonly source: string
  /** Its port; undefined: any. */
  readonly sourcePort?: number | undefined
  /** The highest version of TLS that the client speaks, `1.0` to `1.3`; undefined: any. */
  readonly version?: string | undefined
  /** The client's certificate and any that link it to an authority, in PEM; undefined: it has none. */
  readonly certificate?: string | undefined
  /** When it connects, in milliseconds since the epoch: certificates expire. */
  readonly at: number
}

/** Readings of what the contract leaves open about traffic (`docs/api-decisions.md`), the decided one first. */
export const READINGS = {
  'judging-order': ['account-first', 'edge-first', 'handshake-first'],
  'several-policies': ['together', 'any', 'each'],
  'without-allow': ['refused', 'admitted'],
  'weighted-fallback': ['others', 'none'],
  'termination-default': ['edge', 'upstream'],
} as const

/** A reading of each open point. */
export type Choices = { readonly [Name in keyof typeof READINGS]: (typeof READINGS)[Name][number] }

/** As `docs/api-decisions.md` decides. */
export const DECIDED: Choices = {
  'judging-order': 'account-first',
  'several-policies': 'together',
  'without-allow': 'refused',
  'weighted-fallback': 'others',
  'termination-default': 'edge',
}

export const STEP_KINDS = [
  'edge',
  'restrictions',
  'ip-policies',
  'traffic-policy',
  'certificate',
  'version',
  'client-certificate',
  'backend',
] as const
export type StepKind = (typeof STEP_KINDS)[number]

/** What one step says of a connection. */
export interface Finding {
  readonly outcome: 'passes' | 'refuses' | 'unknown'
  /** For people: a sentence without its full stop. */
  readonly text: string
  /** Id of the restriction or IP rule that decides, or name of the traffic rule. */
  readonly rule?: string | undefined
  /** Where what decides was read. */
  readonly source?: Source | undefined
  /** Further lines for people, such as the backends; indented by two spaces for each level. */
  readonly details?: readonly string[]
}

/** One step of the judgement, in the order in which a connection meets them. */
export interface Step extends Omit<Finding, 'outcome'> {
  readonly kind: StepKind
  /** `not-reached`: an earlier step refuses. */
  readonly outcome: Finding['outcome'] | 'not-reached'
}
