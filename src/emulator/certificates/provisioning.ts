import { members, nullable, TEXT, TIMESTAMP } from '../fields/json-schema.ts'
import { isJsonObject, type Json, type JsonObject, rfc3339 } from '../values/json.ts'
import type { DnsRecord, DnsTable } from './dns-table.ts'

/** Makes attempts fail on request: certificate faults of the admin surface. */
export interface ProvisioningFaults {
  /** The failure to report for the current attempt on `domain`, if one was requested. Counts as a hit. */
  takeCertificateFault(domain: string): ProvisioningFailure | undefined
}

/** Decides the outcome of provisioning attempts. */
export class CertificateIssuer {
  readonly #dns: DnsTable
  readonly #faults: ProvisioningFaults
  /** How long the first attempt takes, in seconds. */
  readonly seconds: number

  constructor(dns: DnsTable, faults: ProvisioningFaults, seconds: number) {
    this.#dns = dns
    this.#faults = faults
    this.seconds = seconds
  }

  /** Why no certificate can be issued for `domain` now; undefined when all needed records are published. */
  attempt(domain: string, needed: readonly DnsRecord[]): ProvisioningFailure | undefined {
    const injected = this.#faults.takeCertificateFault(domain)
    if (injected !== undefined) return injected
    const missing = needed.filter((record) => !this.#dns.has(record))
    if (missing.length === 0) return undefined
    const wanted = missing.map((record) => `${record.type} record ${record.name} → ${record.value}`)
    return { code: 'DNS_ERROR', message: `missing ${wanted.join(' and ')}` }
  }
}

const DAY = 24 * 3600 * 1000
/** A certificate is valid for 90 days and renewed two thirds in. */
const VALIDITY_MS = 90 * DAY
const RENEW_AFTER_MS = (VALIDITY_MS * 2) / 3
const FIRST_RETRY_MS = 30_000
const LONGEST_RETRY_MS = 600_000

/** Why a provisioning attempt failed (`management-api.md § Errors`). */
export interface ProvisioningFailure {
  readonly code: 'INTERNAL_ERROR' | 'DNS_ERROR'
  readonly message: string
}

/**
 * The progress of automatic certificate management, stored in the object that has the policy. Times are emulated
 * milliseconds. `job` is null while nothing is being provisioned or renewed.
 */
export interface ManagedCertificate {
  readonly job: ProvisioningJob | null
  readonly renewsAt: number | null
}

interface ProvisioningJob {
  readonly startedAt: number
  /** When the running attempt is decided. */
  readonly attemptAt: number
  readonly failures: number
  readonly failure: ProvisioningFailure | null
}

/** A job that starts at `at` and is decided `seconds` later. */
export function startJob(at: number, seconds: number, renewsAt: number | null = null): ManagedCertificate {
  return { job: { startedAt: at, attemptAt: at + seconds * 1000, failures: 0, failure: null }, renewsAt }
}

/** The job after an attempt failed at `at`: retried after 30 s, doubling up to 10 min. */
export function failAttempt(state: ManagedCertificate, failure: ProvisioningFailure, at: number): ManagedCertificate {
  const failures = (state.job?.failures ?? 0) + 1
  const pause = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10))
  return {
    job: { startedAt: state.job?.startedAt ?? at, attemptAt: at + pause, failures, failure },
    renewsAt: state.renewsAt,
  }
}

/** The state once a certificate was issued at `at`. */
export function finishJob(at: number): ManagedCertificate {
  return { job: null, renewsAt: at + RENEW_AFTER_MS }
}

/** When the state next changes by itself. */
export function nextChange(state: ManagedCertificate): number | undefined {
  return state.job?.attemptAt ?? state.renewsAt ?? undefined
}

/** What `renderStatus` returns (`management-api.md § Domains, addresses, ingress`). */
export const SHOWN_STATUS = members({
  renews_at: nullable(TIMESTAMP),
  provisioning_job: nullable(
    members(
      {
        error_code: { type: 'string', enum: ['INTERNAL_ERROR', 'DNS_ERROR'] },
        msg: TEXT,
        started_at: TIMESTAMP,
        retries_at: nullable(TIMESTAMP),
      },
      ['error_code'],
    ),
  ),
})

/** `certificate_management_status` as the API returns it; `error_code` is absent while there is no error. */
export function renderStatus(state: ManagedCertificate): JsonObject {
  const { job, renewsAt } = state
  return {
    renews_at: renewsAt === null ? null : rfc3339(renewsAt),
    provisioning_job:
      job === null
        ? null
        : {
            ...(job.failure === null ? {} : { error_code: job.failure.code }),
            msg: job.failure?.message ?? 'The certificate is being provisioned.',
            started_at: rfc3339(job.startedAt),
            retries_at: job.failure === null ? null : rfc3339(job.attemptAt),
          },
  }
}

export function toJson(state: ManagedCertificate): JsonObject {
  return {
    job:
      state.job === null
        ? null
        : { ...state.job, failure: state.job.failure === null ? null : { ...state.job.failure } },
    renewsAt: state.renewsAt,
  }
}

/** Reads what `toJson` wrote; undefined for anything else. */
export function fromJson(value: Json | undefined): ManagedCertificate | undefined {
  if (!isJsonObject(value)) return undefined
  const renewsAt = typeof value.renewsAt === 'number' ? value.renewsAt : null
  const { job } = value
  if (!isJsonObject(job)) return { job: null, renewsAt }
  return {
    job: {
      startedAt: Number(job.startedAt),
      attemptAt: Number(job.attemptAt),
      failures: Number(job.failures),
      failure: failureFrom(job.failure),
    },
    renewsAt,
  }
}

function failureFrom(value: Json | undefined): ProvisioningFailure | null {
  if (!isJsonObject(value)) return null
  const code = value.code === 'DNS_ERROR' ? 'DNS_ERROR' : 'INTERNAL_ERROR'
  return { code, message: String(value.message) }
}
