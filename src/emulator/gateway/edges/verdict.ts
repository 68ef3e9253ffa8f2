import type { Objections } from '../../restrictions/ip-restrictions.ts'
import type { PolicyDecision } from '../../restrictions/rule-set.ts'
import type { PolicyOutcome } from './traffic-policy.ts'

/** Whether a connection may go on, and which rule says so. */
export interface Verdict {
  readonly isAdmitted: boolean
  /** Id of the IP restriction or rule that decided; null if none did. */
  readonly rule: string | null
  readonly reason: string
  /** Restrictions that are not enforced and do not admit it. */
  readonly warnings: readonly string[]
  /** What the traffic policy of the edge notes. */
  readonly notes: readonly string[]
}

/** What the modules of an edge say of a connection; undefined for those that are not set, or disabled. */
export interface ModuleDecisions {
  readonly restriction?: PolicyDecision | undefined
  readonly policy?: PolicyOutcome | undefined
}

/** Whether the restrictions of the account are named first where both they and the edge refuse a source. */
export type SourceOrder = 'account-first' | 'edge-first'

/**
 * Judges a connection: every enforced restriction of type `endpoints` of the account must admit its source, and so must
 * the IP restriction of the edge; then its traffic policy must not deny it (`management-api.md § IP policies, rules,
 * restrictions`, `§ Edges and backends`). Pure.
 */
export function verdictOf(
  objections: Objections,
  { restriction, policy }: ModuleDecisions,
  order: SourceOrder = 'account-first',
): Verdict {
  const sourceVerdict = verdictOnSource(objections, restriction, order)
  if (!sourceVerdict.isAdmitted || policy === undefined) return { ...sourceVerdict, notes: [] }
  const { denial, notes } = policy
  if (denial === undefined) return { ...sourceVerdict, notes }
  return { ...sourceVerdict, isAdmitted: false, rule: null, reason: denial, notes }
}

function verdictOnSource(
  { enforced, warnings }: Objections,
  module: PolicyDecision | undefined,
  order: SourceOrder,
): Omit<Verdict, 'notes'> {
  const [restriction] = enforced
  const isForEdge = order === 'edge-first' && module?.isAdmitted === false
  if (restriction !== undefined && !isForEdge) {
    const reason = `the IP restriction ${enforced.join(', ')} of the account does not admit it`
    return { isAdmitted: false, rule: restriction, reason, warnings }
  }
  if (module === undefined) return { isAdmitted: true, rule: null, reason: 'the edge restricts no address', warnings }
  const rule = module.rule ?? null
  if (module.isAdmitted) return { isAdmitted: true, rule, reason: 'an IP policy of the edge admits it', warnings }
  const reason = rule === null ? 'no rule of the edge admits it' : 'a rule of the edge denies it'
  return { isAdmitted: false, rule, reason, warnings }
}

/** How TLS was set up for a connection. */
export interface TlsFacts {
  /** Whether TLS ends at the edge, or passes through. */
  readonly endsAtEdge: boolean
  /** Undefined until the handshake is complete, and when TLS passes through. */
  readonly client: TlsClient | undefined
}

/** A client that has completed the handshake. */
export interface TlsClient {
  /** Digests of the uploaded certificates that vouch for the client's; undefined when none was asked for. */
  readonly vouchers: ReadonlySet<string> | undefined
  /** The version in use. */
  readonly version: TlsVersion | undefined
}

/** Values of `min_version`, in order. */
export const TLS_VERSIONS = ['1.0', '1.1', '1.2', '1.3'] as const
export type TlsVersion = (typeof TLS_VERSIONS)[number]

/** How an edge would set up TLS for a connection now. */
export interface TlsTerms {
  readonly endsAtEdge: boolean
  /** Digests of the certificates of authorities that it trusts; undefined when it asks for no certificate. */
  readonly trusted: ReadonlySet<string> | undefined
  readonly minVersion: TlsVersion
}

/**
 * Why a connection that was set up like this would no longer be admitted; undefined if it would, and as long as the
 * handshake is not complete: nothing is carried before that. Pure.
 */
export function tlsObjection(facts: TlsFacts, terms: TlsTerms): string | undefined {
  if (facts.endsAtEdge !== terms.endsAtEdge) return 'tls_termination changed'
  if (facts.client === undefined || !terms.endsAtEdge) return undefined
  const { vouchers, version } = facts.client
  const { trusted } = terms
  const isTrusted =
    trusted === undefined || (vouchers !== undefined && [...vouchers].every((each) => trusted.has(each)))
  if (!isTrusted) return 'mutual_tls changed'
  const isOld = version !== undefined && rank(version) < rank(terms.minVersion)
  return isOld ? 'min_version changed' : undefined
}

function rank(version: TlsVersion): number {
  return TLS_VERSIONS.indexOf(version)
}
