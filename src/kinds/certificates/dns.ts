import type { RemoteObject } from '../../api/types.ts'
import type { KindCondition } from '../../managed/descriptor/readiness.ts'
import { type Reason, reasons } from '../../managed/descriptor/reasons.ts'
import { cut } from '../../util/printable.ts'
import type { CertificateState } from './certificate-progress.ts'

/** Prefix of the name that an ACME challenge looks up for a domain. */
export const CHALLENGE = '_acme-challenge.'

/** Types of the records that domains need. */
export const DNS_RECORD_TYPES = ['CNAME', 'NS'] as const

/** A DNS record that the user has to create. */
export interface DNSRecord {
  readonly name: string
  readonly type: (typeof DNS_RECORD_TYPES)[number]
  readonly value: string
}

/** The name that an ACME challenge looks up for `domain`, which may be a wildcard. */
export function challengeName(domain: string): string {
  return `${CHALLENGE}${domain.replace(/^\*\./, '')}`
}

/** A target of the domain's records, as a response gives it. */
export interface AnsweredTarget {
  /** API field, for messages. */
  readonly field: string
  readonly value: unknown
  /** The target as a record may have it; undefined if the value is not a DNS name. */
  readonly name: string | undefined
}

/**
 * Why nothing in a response about a domain is used: it is about another domain than the spec's, or names a target that
 * no record may have. A response without the domain is fine: the names of records come from the spec.
 */
export function domainAnswerProblem(
  domain: string,
  { domain: answered }: RemoteObject,
  targets: readonly AnsweredTarget[],
): string | undefined {
  const isOther = answered !== undefined && answered !== null
  if (isOther && (typeof answered !== 'string' || answered.toLowerCase().replace(/\.$/, '') !== domain)) {
    return `the API says that the domain of the object is ${quoted(answered)}, but spec.domain is ${domain}`
  }
  const wrong = targets.find(({ value, name }) => value !== undefined && value !== null && name === undefined)
  if (wrong === undefined) return undefined
  return `the API gives ${quoted(wrong.value)} as ${wrong.field}, which is not a DNS name that a record may point to`
}

const QUOTED = 80

/** Enough of a value to recognise it. */
function quoted(value: unknown): string {
  return cut(JSON.stringify(value), QUOTED)
}

/** `record` as text for a message. */
export function recordText({ name, type, value }: DNSRecord): string {
  return `${name} ${type} ${value}`
}

/**
 * The condition `DNSReady`; none where no record is needed. Only the service checks the records, and only while it
 * issues a certificate.
 */
export function dnsReady(
  managed: boolean,
  { issued, job }: CertificateState,
  records: readonly DNSRecord[],
): readonly KindCondition[] {
  if (records.length === 0) return []
  const condition = (status: KindCondition['status'], reason: Reason, about: string): readonly KindCondition[] => {
    return [{ type: 'DNSReady', status, reason, message: `${about}: ${records.map(recordText).join(', ')}` }]
  }
  if (!managed)
    return condition('Unknown', reasons.CertificateNotManaged, 'not looked at without a managed certificate')
  if (job?.errorCode === 'DNS_ERROR') return condition('False', reasons.DNSError, 'missing or wrong')
  if (issued) return condition('True', reasons.CertificateIssued, 'in place when the certificate was issued')
  return condition('Unknown', reasons.CertificatePending, 'being checked')
}
