import type { RemoteObject } from '../../api/types.ts'
import { cut } from '../../util/printable.ts'
import { objectOf, textOf, timeOf } from '../building-blocks/remote.ts'

/** State of an object's certificate. Kinds differ in how they show that one is in use. */
export interface CertificateState extends CertificateProgress {
  /** A certificate is in use. */
  readonly issued: boolean
}

/** What `certificate_management_status` reports (`management-api.md § Domains, addresses, ingress`). */
export interface CertificateProgress {
  /** The status is present: the service manages the certificate. */
  readonly managed: boolean
  readonly renewsAt: string | undefined
  readonly job: ProvisioningJob | undefined
}

/** A certificate being provisioned or renewed. */
export interface ProvisioningJob {
  /** `DNS_ERROR`: the user must act. Any other code is treated as temporary. Absent: no error. */
  readonly errorCode: string | undefined
  readonly message: string | undefined
  readonly startedAt: string | undefined
  readonly retriesAt: string | undefined
}

const MESSAGE = 1024

/** Reads `certificate_management_status`, the same way for every kind that has it. */
export function certificateProgress(remote: RemoteObject): CertificateProgress {
  const status = objectOf(remote.certificate_management_status)
  const job = objectOf(status?.provisioning_job)
  return {
    managed: status !== undefined,
    renewsAt: timeOf(status?.renews_at),
    job: job && {
      errorCode: textOf(job.error_code),
      message: cutText(textOf(job.msg)),
      startedAt: timeOf(job.started_at),
      retriesAt: timeOf(job.retries_at),
    },
  }
}

function cutText(value: string | undefined): string | undefined {
  return value === undefined ? undefined : cut(value, MESSAGE)
}
