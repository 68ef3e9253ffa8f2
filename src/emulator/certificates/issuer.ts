import type { DnsRecord, DnsTable } from './dns-table.ts'
import type { ProvisioningFailure } from './job.ts'

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
