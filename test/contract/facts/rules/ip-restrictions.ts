import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const behaviour = 'api-decisions.md § Behaviour'
const settled = 'api-decisions.md § Further points that building the emulator settled'

/** Effects of IP restrictions on requests. */
export const ipRestrictionRules = {
  'restrictions.api': {
    statement: 'an enforced api restriction refuses other source addresses, an unenforced one warns',
    source: behaviour,
    operator: heldBy('cluster/kinds/refusals.test.ts', 'unit/managed/run/reconcile-result.test.ts'),
  },
  'restrictions.judging': {
    statement: 'a matching deny refuses, else a matching allow admits, else the address is refused',
    source: behaviour,
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
  'restrictions.all-admit': {
    statement: 'of several api restrictions all must admit, and each judges by the rules of all its policies together',
    source: settled,
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
  'restrictions.policy-deleted': {
    statement: 'a restriction treats a deleted IP policy as one with zero rules and still refers to it',
    source: 'management-api.md § States and transitions',
    operator: heldBy('unit/kinds/ip-restriction.test.ts', 'cluster/in-use.test.ts'),
  },
  'restrictions.changes': {
    statement: 'a change of a restriction, or of a rule of its policies, holds from the next request on',
    source: settled,
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
  'restrictions.own-account': {
    statement: 'a restriction holds for the callers of its own account only',
    source: settled,
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
  'restrictions.admin-surface': {
    statement: 'no restriction holds for the admin surface',
    source: settled,
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  'restrictions.other-types': {
    statement: 'restrictions of the types dashboard, agent and endpoints leave API requests alone',
    source: behaviour,
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
  'restrictions.source-address': {
    statement: 'the source address is that of the connection, and X-Forwarded-For counts only where it is trusted',
    source: settled,
    operator: serverOnly('how the service judges traffic; the operator only says which policies apply'),
  },
} satisfies Rules
