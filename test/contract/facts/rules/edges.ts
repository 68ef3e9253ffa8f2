import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const special = 'management-api.md § Endpoints, special rule 1'
const values = 'api-decisions.md § Values'
const behaviour = 'api-decisions.md § Behaviour'
const termination = 'management-api.md § Edges and backends'

/** Edges: their modules and the hostports they listen on. */
export const edgeRules = {
  'edges.absent-module-unchanged': {
    statement: 'a module that is not in an update body is left unchanged',
    source: special,
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'edges.present-module-replaced': {
    statement: 'a module in an update body replaces the whole of what was there',
    source: special,
    operator: heldBy('contract/kinds/generated-specs.test.ts'),
  },
  'edges.module-null-refused': {
    statement: 'an update that gives a module as null is refused, since an update cannot remove one',
    source: 'api-decisions.md § Requests',
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'edges.enabled-by-default': {
    statement: 'a module without enabled is enabled',
    source: termination,
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'edges.disabled-alone': {
    statement: 'a module of enabled false alone is accepted and holds no references',
    source: behaviour,
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'edges.enabled-needs-reference': {
    statement: 'an enabled backend, ip_restriction or mutual_tls that refers to nothing is refused',
    source: behaviour,
    operator: heldBy('unit/kinds/edge.test.ts', 'cluster/kinds/refusals.test.ts'),
  },
  'edges.module-put': {
    statement: 'PUT on a module replaces it from a bare body or from {id, module}, and returns the module',
    source: behaviour,
    operator: serverOnly('the operator writes modules through the edge; the contract does not show these addresses'),
  },
  'edges.module-get': {
    statement: 'GET on a module returns what the edge shows for it',
    source: behaviour,
    operator: serverOnly('the operator writes modules through the edge; the contract does not show these addresses'),
  },
  'edges.module-delete': {
    statement: 'DELETE on a module answers 204 and leaves null, also when it was not set',
    source: behaviour,
    operator: serverOnly('the operator writes modules through the edge; the contract does not show these addresses'),
  },
  'edges.tcp-has-no-tls-modules': {
    statement: 'a TCP edge refuses mutual_tls and tls_termination by name and has no addresses for them',
    source: termination,
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
  'edges.unknown-reference': {
    statement: 'a module that refers to an id that names nothing is refused, naming field and id',
    source: 'api-decisions.md § Requests',
    operator: heldBy('cluster/bad-input.test.ts'),
  },
  'edges.termination-defaults': {
    statement: 'tls_termination terminates at the edge with a null min_version when unspecified',
    source: values,
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'edges.min-version-values': {
    statement: 'min_version is one of 1.0, 1.1, 1.2 and 1.3',
    source: values,
    operator: heldBy('cluster/kinds/bounds.test.ts'),
  },
  'edges.upstream-without-min-version': {
    statement: 'min_version together with terminate_at upstream is refused',
    source: 'management-api.md § Errors',
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
  'edges.upstream-alone': {
    statement: 'terminate_at upstream next to an enabled mutual_tls or policy is refused, whichever came first',
    source: behaviour,
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
  'edges.policy-lists': {
    statement: 'a single inbound rule, outbound rule or action is read as a list of one',
    source: values,
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'edges.policy-expressions': {
    statement: 'an expression that does not parse as CEL is refused, and one that does is kept to the letter',
    source: values,
    operator: heldBy('unit/kinds/reach.test.ts', 'contract/kinds/generated-specs.test.ts'),
  },
  'edges.action-free': {
    statement: 'an action takes any type and any object as its config',
    source: values,
    operator: heldBy('unit/kinds/reach.test.ts', 'contract/kinds/generated-specs.test.ts'),
  },
  'edges.hostports-owned': {
    statement: 'a hostport must name a reserved domain of the account, or a reserved address with its own port',
    source: behaviour,
    operator: heldBy('cluster/cli/broken-set-ups.test.ts'),
  },
  'edges.hostports-wildcard': {
    statement: 'a wildcard reserved domain serves hostports one label below it and no deeper',
    source: behaviour,
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'edges.hostports-once': {
    statement: 'a hostport that is on another edge is a conflict',
    source: behaviour,
    operator: heldBy('unit/managed/run/reconcile-result.test.ts'),
  },
  'edges.hostports-form': {
    statement: 'a hostport without a port from 1 to 65535 is refused',
    source: behaviour,
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
} satisfies Rules
