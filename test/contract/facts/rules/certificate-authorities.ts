import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const values = 'api-decisions.md § Values'

/** Uploaded certificate authorities. */
export const certificateAuthorityRules = {
  'certificate-authorities.pem': {
    statement: 'a PEM must hold certificates that are all CAs, and the first gives the subject',
    source: values,
    operator: heldBy('cluster/kinds/refusals.test.ts', 'unit/managed/run/reconcile-result.test.ts'),
  },
  'certificate-authorities.usages': {
    statement: 'usages have the names of RFC 5280 in lower camel case, and unknown ones are object identifiers',
    source: values,
    operator: serverOnly('the names are shown in the status as the API gives them'),
  },
} satisfies Rules
