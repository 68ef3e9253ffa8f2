import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const values = 'api-decisions.md § Values'

/** Uploaded certificate authorities. */
export const certificateAuthorityRules: readonly RuleFact[] = [
  {
    id: 'certificate-authorities.pem',
    statement: 'a PEM must hold certificates that are all CAs, and the first gives the subject',
    source: values,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > CertificateAuthority without PEM',
      'unit/managed/run/reconcile-result.test.ts > every error has its result > ApiError Invalid: stalled,terminal,Rejected',
    ),
    refusal: { status: 400, names: ['ca_pem'] },
  },
  {
    id: 'certificate-authorities.usages',
    statement: 'usages have the names of RFC 5280 in lower camel case, and unknown ones are object identifiers',
    source: values,
    due: 'now',
    operator: serverOnly('the names are shown in the status as the API gives them'),
  },
]
