import { Type } from 'typebox'
import type { Fields } from '../managed/types/descriptor.ts'
import { choice, list, object, text, timestamp } from '../schema/define.ts'
import type { CertificateState } from './certificate.ts'
import type { DNSRecord } from './certificate-dns.ts'
import { given } from './remote.ts'

/** How many DNS records a status names. */
const RECORDS = 32

const provisioningJob = object(
  {
    errorCode: Type.Optional(
      text({ description: 'DNS_ERROR: correct the DNS. INTERNAL_ERROR: resolves by itself.', maxLength: 255 }),
    ),
    message: Type.Optional(text({ description: "The service's own message.", maxLength: 1024 })),
    startedAt: Type.Optional(timestamp({ description: 'When the job began.' })),
    retriesAt: Type.Optional(timestamp({ description: 'When it is tried again.' })),
  },
  { description: 'A certificate being provisioned or renewed; absent while none is.' },
)

const dnsRecord = object(
  {
    name: text({ description: 'Name of the record.', maxLength: 512 }),
    type: choice(['CNAME', 'NS'], { description: 'Type of the record.' }),
    value: text({ description: 'What it must point to.', maxLength: 512 }),
  },
  { description: 'A DNS record.' },
)

/** Status fields of every kind whose certificates the service manages. */
export const certificateStatusFields = {
  dnsRecords: Type.Optional(
    list(dnsRecord, { description: 'The records to create at your DNS provider.', maxItems: RECORDS }),
  ),
  renewsAt: Type.Optional(timestamp({ description: 'When a new certificate will be requested.' })),
  provisioningJob: Type.Optional(provisioningJob),
}

/** Values of these fields. */
export function certificateStatus({ renewsAt, job }: CertificateState, records: readonly DNSRecord[]): Fields {
  return given({
    dnsRecords: records.length === 0 ? undefined : records.slice(0, RECORDS),
    renewsAt,
    provisioningJob: job && given({ ...job }),
  })
}

/** The conditions that such kinds show, for their pages. */
export const certificateConditions = [
  {
    type: 'CertificateReady',
    description:
      'A certificate is in use and nothing keeps it from being renewed. False with RenewalFailing long before the one in use expires. Unknown while none is managed.',
  },
  {
    type: 'DNSReady',
    description: 'The DNS records of your own domain are in place; absent for domains of the service, which need none.',
  },
] as const
