import type { KindCondition, Readiness } from '../../managed/descriptor/readiness.ts'
import { type Reason, reasons } from '../../managed/descriptor/reasons.ts'
import type { CertificateState, ProvisioningJob } from './certificate-progress.ts'
import { type DNSRecord, recordText } from './dns.ts'

const FIRST_POLL_MS = 5000
const LAST_POLL_MS = 60_000
const MIN_RETRY_MS = 1000
const MAX_RETRY_MS = 600_000

/**
 * Milliseconds until a certificate that is being provisioned is polled again. After an error: at `retries_at`, but
 * within 1 s to 10 min; once that has passed, soon at first and then less and less often. Otherwise: after a tenth of
 * the time that the job has taken so far, within 5 s to 60 s. Undefined while no job runs.
 */
function pollAfter({ job }: CertificateState, now: number): number | undefined {
  if (job === undefined) return undefined
  if (job.errorCode !== undefined && job.retriesAt !== undefined) {
    const wait = Date.parse(job.retriesAt) - now
    return wait > 0 ? clamp(wait, MIN_RETRY_MS, MAX_RETRY_MS) : clamp(-wait / 10, MIN_RETRY_MS, LAST_POLL_MS)
  }
  const elapsed = job.startedAt === undefined ? 0 : now - Date.parse(job.startedAt)
  return clamp(elapsed / 10, FIRST_POLL_MS, LAST_POLL_MS)
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, Math.ceil(value)))
}

/** The DNS records that a certificate needs, and how they are created. */
export interface NeededRecords {
  readonly records: readonly DNSRecord[]
  /** Whether the spec asks for a DNSEndpoint, which creates them. */
  readonly byEndpoint: boolean
}

/** Readiness and conditions for a managed certificate, including `CertificateReady`. */
export function managedReadiness(state: CertificateState, needed: NeededRecords, now: number): Readiness {
  const pollMs = pollAfter(state, now) ?? (state.issued ? undefined : FIRST_POLL_MS)
  const poll = pollMs === undefined ? {} : { pollMs }
  const problem = problemOf(state.job, needed)
  if (problem === undefined && state.issued) {
    const message = state.job === undefined ? 'a certificate is in use' : 'a certificate is in use and being renewed'
    return ready(message, { status: 'True', reason: reasons.CertificateIssued, message }, poll)
  }
  if (problem === undefined) {
    const message = 'a certificate is being provisioned'
    const reason = reasons.CertificatePending
    return { ready: false, reason, message, ...poll, conditions: [certificateReady('False', reason, message)] }
  }
  if (state.issued) {
    const message = `the certificate in use still works, but its renewal fails: ${problem.message}`
    return ready(message, { status: 'False', reason: reasons.RenewalFailing, message }, poll)
  }
  const { reason, message, stalled } = problem
  return { ready: false, reason, message, stalled, ...poll, conditions: [certificateReady('False', reason, message)] }
}

function ready(
  message: string,
  certificate: Omit<KindCondition, 'type'>,
  poll: { readonly pollMs?: number },
): Readiness {
  return {
    ready: true,
    reason: reasons.Available,
    message,
    ...poll,
    conditions: [{ type: 'CertificateReady', ...certificate }],
  }
}

export function certificateReady(status: KindCondition['status'], reason: Reason, message: string): KindCondition {
  return { type: 'CertificateReady', status, reason, message }
}

interface Problem {
  readonly reason: Reason
  readonly message: string
  readonly stalled: boolean
}

function problemOf(job: ProvisioningJob | undefined, needed: NeededRecords): Problem | undefined {
  if (job?.errorCode === undefined) return undefined
  const again = job.retriesAt === undefined ? 'the service tries again by itself' : `tried again at ${job.retriesAt}`
  const said = job.message === undefined ? '' : ` (${job.message})`
  if (job.errorCode === 'DNS_ERROR') {
    return {
      reason: reasons.DNSError,
      message: `DNS is not set up: ${dnsRemedy(needed)}; ${again}${said}`,
      stalled: true,
    }
  }
  const message = `the service could not issue the certificate for the time being; it will be retried: ${again}${said}`
  return { reason: reasons.InternalError, message, stalled: false }
}

function dnsRemedy({ records, byEndpoint }: NeededRecords): string {
  if (records.length === 0) return 'correct the DNS of the domain'
  const named = records.map((record) => `the record ${recordText(record)}`).join(' and ')
  return byEndpoint ? `spec.dns.endpoint publishes ${named}: see the condition DNSEndpointReady` : `make ${named}`
}
