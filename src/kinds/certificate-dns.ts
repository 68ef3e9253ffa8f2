import { reasons } from '../managed/reasons.ts'
import type { KindCondition } from '../managed/types/descriptor.ts'
import type { CertificateState } from './certificate.ts'

/** Before a domain: the name that is looked up for a challenge of ACME. */
export const CHALLENGE = '_acme-challenge.'

/** Types of the records that domains need. */
export const DNS_RECORD_TYPES = ['CNAME', 'NS'] as const

/** A DNS record that the user has to make. */
export interface DNSRecord {
  readonly name: string
  readonly type: (typeof DNS_RECORD_TYPES)[number]
  readonly value: string
}

/** `record` as a line of a message. */
export function recordText({ name, type, value }: DNSRecord): string {
  return `${name} ${type} ${value}`
}

/**
 * The condition `DNSReady`; none where no record is needed. Only the service looks at the records, and only while it issues a
 * certificate.
 */
export function dnsReady(
  managed: boolean,
  { issued, job }: CertificateState,
  records: readonly DNSRecord[],
): readonly KindCondition[] {
  if (records.length === 0) return []
  const condition = (status: KindCondition['status'], reason: string, about: string): readonly KindCondition[] => {
    return [{ type: 'DNSReady', status, reason, message: `${about}: ${records.map(recordText).join(', ')}` }]
  }
  if (!managed)
    return condition('Unknown', reasons.CertificateNotManaged, 'not looked at without a managed certificate')
  if (job?.errorCode === 'DNS_ERROR') return condition('False', reasons.DNSError, 'missing or wrong')
  if (issued) return condition('True', reasons.CertificateIssued, 'in place when the certificate was issued')
  return condition('Unknown', reasons.CertificatePending, 'being looked at')
}
