import { adminRules } from './admin.ts'
import { certificateAuthorityRules } from './certificate-authorities.ts'
import { credentialRules } from './credentials.ts'
import { domainRules } from './domains.ts'
import { edgeRules } from './edges.ts'
import { eventRules } from './events.ts'
import { ingressRules } from './ingresses.ts'
import { ipRestrictionRules } from './ip-restrictions.ts'
import { objectRules } from './objects-in-use.ts'
import { requestRules } from './requests.ts'
import { sshCertificateRules } from './ssh-certificates.ts'
import { tunnelSessionRules } from './tunnel-sessions.ts'

/** Every rule that does not belong to a single field. */
export const allRules = {
  ...requestRules,
  ...credentialRules,
  ...ipRestrictionRules,
  ...domainRules,
  ...ingressRules,
  ...edgeRules,
  ...sshCertificateRules,
  ...certificateAuthorityRules,
  ...objectRules,
  ...eventRules,
  ...tunnelSessionRules,
  ...adminRules,
}

/** The sentence of a rule: the title of the test that checks it on the emulator. */
export function stated(id: keyof typeof allRules): string {
  return allRules[id].statement
}
