import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const behaviour = 'api-decisions.md § Behaviour'
const settled = 'api-decisions.md § Further points that building the emulator settled'

/** Effects of IP restrictions on requests. */
export const ipRestrictionRules: readonly RuleFact[] = [
  {
    id: 'restrictions.api',
    statement: 'an enforced api restriction refuses other source addresses, an unenforced one warns',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > IPRestriction that could shut Culvert out of the API …',
      'unit/managed/run/reconcile-result.test.ts > every error has its result > ApiError Forbidden: stalled,terminal,Rejected',
    ),
    refusal: { status: 403 },
  },
  {
    id: 'restrictions.judging',
    statement: 'a matching deny refuses, else a matching allow admits, else the address is refused',
    source: behaviour,
    due: 'now',
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
    refusal: { status: 403 },
  },
  {
    id: 'restrictions.all-admit',
    statement: 'of several api restrictions all must admit, and each judges by the rules of all its policies together',
    source: settled,
    due: 'now',
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
    refusal: { status: 403 },
  },
  {
    id: 'restrictions.policy-deleted',
    statement: 'a restriction treats a deleted IP policy as one with zero rules and goes on referring to it',
    source: 'management-api.md § States and transitions',
    due: 'now',
    operator: heldBy(
      'unit/kinds/ip-restriction.test.ts > it uses the policies that it has at the API, so that these are not deleted under it',
      'cluster/in-use.test.ts > IPPolicy/office, which IPRestriction/…',
    ),
    refusal: { status: 403 },
  },
  {
    id: 'restrictions.changes',
    statement: 'a change of a restriction, or of a rule of its policies, holds from the next request on',
    source: settled,
    due: 'now',
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
  {
    id: 'restrictions.own-account',
    statement: 'a restriction holds for the callers of its own account only',
    source: settled,
    due: 'now',
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
  {
    id: 'restrictions.admin-surface',
    statement: 'no restriction holds for the admin surface',
    source: settled,
    due: 'now',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  {
    id: 'restrictions.other-types',
    statement: 'restrictions of the types dashboard, agent and endpoints leave API requests alone',
    source: behaviour,
    due: 'now',
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
  {
    id: 'restrictions.source-address',
    statement: 'the source address is that of the connection, and X-Forwarded-For counts only where it is trusted',
    source: settled,
    due: 'now',
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
]
