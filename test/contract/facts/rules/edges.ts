import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const special = 'management-api.md § Endpoints, special rule 1'
const values = 'api-decisions.md § Values'
const behaviour = 'api-decisions.md § Behaviour'
const termination = 'management-api.md § Edges and backends'

/** Edges: their modules and the hostports they listen on. */
export const edgeRules: readonly RuleFact[] = [
  {
    id: 'edges.absent-module-unchanged',
    statement: 'a module that is not in an update body is left unchanged',
    source: special,
    due: 'now',
    operator: heldBy(
      'unit/kinds/edge.test.ts > a module that is not in the spec > is left alone and reported when somebody else put it there',
    ),
  },
  {
    id: 'edges.present-module-replaced',
    statement: 'a module in an update body replaces the whole of what was there',
    source: special,
    due: 'now',
    operator: heldBy(
      'contract/kinds/generated-specs.test.ts > any spec of Edge > is taken, needs no second look, and comes to the same whatever was before',
    ),
  },
  {
    id: 'edges.module-null-refused',
    statement: 'an update that gives a module as null is refused, since an update cannot remove one',
    source: 'api-decisions.md § Requests',
    due: 'now',
    operator: heldBy(
      'unit/kinds/edge.test.ts > a module that is not in the spec > is disabled when Culvert put it there',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'edges.enabled-by-default',
    statement: 'a module without enabled is enabled',
    source: termination,
    due: 'now',
    operator: heldBy('unit/kinds/edge.test.ts > a module that the API returns without enabled is enabled'),
  },
  {
    id: 'edges.disabled-alone',
    statement: 'a module of enabled false alone is accepted and holds no references',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/kinds/edge.test.ts > a module that the spec switches off > is sent with its contents in the spec, or else as the edge has it, or as nothing but disabled',
    ),
  },
  {
    id: 'edges.enabled-needs-reference',
    statement: 'an enabled backend, ip_restriction or mutual_tls that refers to nothing is refused',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/kinds/edge.test.ts > an enabled module without what it needs is a problem, not an edge without the module',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > Edge with a backend module without backend',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'edges.module-put',
    statement: 'PUT on a module replaces it from a bare body or from {id, module}, and returns the module',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator writes modules through the edge; the contract does not show these addresses'),
  },
  {
    id: 'edges.module-get',
    statement: 'GET on a module returns what the edge shows for it',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator writes modules through the edge; the contract does not show these addresses'),
  },
  {
    id: 'edges.module-delete',
    statement: 'DELETE on a module answers 204 and leaves null, also when it was not set',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator writes modules through the edge; the contract does not show these addresses'),
  },
  {
    id: 'edges.tcp-has-no-tls-modules',
    statement: 'a TCP edge refuses mutual_tls and tls_termination by name and has no addresses for them',
    source: termination,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > Edge with TLS modules on TCP',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > Edge with termination on TCP',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'edges.unknown-reference',
    statement: 'a module that refers to an id that names nothing is refused, naming field and id',
    source: 'api-decisions.md § Requests',
    due: 'now',
    operator: heldBy('cluster/bad-input.test.ts > a reference to a missing object, by id'),
    refusal: { status: 400 },
  },
  {
    id: 'edges.termination-defaults',
    statement: 'tls_termination terminates at the edge with a null min_version when unspecified',
    source: values,
    due: 'now',
    operator: heldBy('unit/kinds/edge.test.ts > without a minVersion in the spec > none is sent'),
  },
  {
    id: 'edges.min-version-values',
    statement: 'min_version is one of 1.0, 1.1, 1.2 and 1.3',
    source: values,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/bounds.test.ts > every bound in the spec of Edge is kept by the apiserver, which names the field',
    ),
    refusal: { status: 400, names: ['min_version'] },
  },
  {
    id: 'edges.upstream-without-min-version',
    statement: 'min_version together with terminate_at upstream is refused',
    source: 'management-api.md § Errors',
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > Edge with a minimum version for TLS that pas…',
    ),
    refusal: { status: 400, names: ['min_version'] },
  },
  {
    id: 'edges.upstream-alone',
    statement: 'terminate_at upstream beside an enabled mutual_tls or policy is refused, whichever came first',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > Edge with mutual TLS for TLS that passes thr…',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > Edge with a traffic policy for TLS that pass…',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'edges.policy-lists',
    statement: 'a single inbound rule, outbound rule or action is read as a list of one',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/edge.test.ts > a single rule or action of the traffic policy is read as a list of one',
    ),
  },
  {
    id: 'edges.policy-expressions',
    statement: 'an expression that does not parse as CEL is refused, and one that does is kept to the letter',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reach.test.ts > whatever a spec of Edge says stands in a request',
      'contract/kinds/generated-specs.test.ts > any spec of Edge > is taken, needs no second look, and comes to the same whatever was before',
    ),
    refusal: { status: 400, names: ['expressions'] },
  },
  {
    id: 'edges.action-free',
    statement: 'an action takes any type and any object as its config',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reach.test.ts > whatever a spec of Edge says stands in a request',
      'contract/kinds/generated-specs.test.ts > any spec of Edge > is taken, needs no second look, and comes to the same whatever was before',
    ),
  },
  {
    id: 'edges.hostports-owned',
    statement: 'a hostport must name a reserved domain of the account, or a reserved address with its own port',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/bad-input.test.ts > a hostport of an unknown domain'),
    refusal: { status: 400, names: ['hostports'] },
  },
  {
    id: 'edges.hostports-wildcard',
    statement: 'a wildcard reserved domain serves hostports one label below it and no deeper',
    source: behaviour,
    due: 'now',
    operator: heldBy('unit/kinds/edge.test.ts > a domain or address is in use while an edge listens on it'),
  },
  {
    id: 'edges.hostports-once',
    statement: 'a hostport that is on another edge is a conflict',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/managed/run/reconcile-result.test.ts > every error has its result > ApiError Conflict: stalled,terminal,Conflict',
    ),
    refusal: { status: 409 },
  },
  {
    id: 'edges.hostports-form',
    statement: 'a hostport without a port from 1 to 65535 is refused',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > Edge with a host without port',
    ),
    refusal: { status: 400, names: ['hostports'] },
  },
]
