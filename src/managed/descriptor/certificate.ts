import type { Fields } from './fields.ts'

/** The end of the certificates of a kind. */
export interface CertificateTimes {
  /** When the certificate of the object will be renewed, from its status. */
  renewsAt(status: Fields): string | undefined
  /** Until when the certificate is valid, from its status. Absent: the service does not say. */
  expiresAt?(status: Fields): string | undefined
}
