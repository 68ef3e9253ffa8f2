import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from '../../managed/descriptor/common.ts'
import { choice, list, object, text, timestamp } from '../../schema/define.ts'
import { given, objectOf, wholeText } from '../building-blocks/remote.ts'
import type { CertificateState } from './certificate-progress.ts'
import type { DNSRecord } from './dns.ts'

/** How many DNS records a status shows. */
const RECORDS = 32
const POLICY_TEXT = 63

const provisioningJob = object(
  {
    errorCode: Type.Optional(
      text({
        description:
          'Why the last attempt failed. DNS_ERROR: correct the DNS records. INTERNAL_ERROR: a temporary error of the service, which retries by itself. Absent if there is no error.',
        maxLength: 255,
      }),
    ),
    message: Type.Optional(text({ description: "The service's own message about the job.", maxLength: 1024 })),
    startedAt: Type.Optional(timestamp({ description: 'When the job started.' })),
    retriesAt: Type.Optional(timestamp({ description: 'When the service retries.' })),
  },
  { description: 'The job that issues or renews the certificate; absent while none runs.' },
)

const dnsRecord = object(
  {
    name: text({ description: 'Name of the record.', maxLength: 512 }),
    type: choice(['CNAME', 'NS'], { description: 'Type of the record.' }),
    value: text({ description: 'Name that the record must point to.', maxLength: 512 }),
  },
  { description: 'A DNS record.' },
)

const certificatePolicy = object(
  {
    authority: Type.Optional(text({ description: 'Authority that issues the certificate.', maxLength: POLICY_TEXT })),
    privateKeyType: Type.Optional(text({ description: 'Type of the private key.', maxLength: POLICY_TEXT })),
  },
  {
    description:
      'How the service manages the certificate, as the API reports it, regardless of who requested it; absent while it does not.',
  },
)

/** Status fields of every kind whose certificates the service manages. */
export const certificateStatusFields = {
  dnsRecords: Type.Optional(
    list(dnsRecord, {
      description:
        'The DNS records that the domain needs: create them at your DNS provider, unless ExternalDNS does (`dns.endpoint`). Absent where none is needed.',
      maxItems: RECORDS,
    }),
  ),
  certificatePolicy: Type.Optional(certificatePolicy),
  renewsAt: Type.Optional(timestamp({ description: 'When the service will request the next certificate.' })),
  provisioningJob: Type.Optional(provisioningJob),
}

/** Values of these fields. */
export function certificateStatus(
  remote: RemoteObject,
  { renewsAt, job }: CertificateState,
  records: readonly DNSRecord[],
): Fields {
  const policy = objectOf(remote.certificate_management_policy)
  return given({
    dnsRecords: records.length === 0 ? undefined : records.slice(0, RECORDS),
    certificatePolicy:
      policy && given({ authority: short(policy.authority), privateKeyType: short(policy.private_key_type) }),
    renewsAt,
    provisioningJob: job && given({ ...job }),
  })
}

function short(value: unknown): string | undefined {
  return wholeText(value, POLICY_TEXT)
}

/** The conditions that such kinds show, for their pages. */
export const certificateConditions = [
  {
    type: 'CertificateReady',
    description:
      'A certificate is in use, and its renewal, if the service manages it, does not fail. False with RenewalFailing when it still works but its renewal fails. Unknown while none is managed, and none is known to be in use.',
  },
  {
    type: 'DNSReady',
    description:
      'The DNS records of a domain of your own are in place, as far as the service found when it issued the certificate. Absent for domains of the service, which need none.',
  },
] as const
