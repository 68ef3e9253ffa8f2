import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'

/** References between objects, how they prevent deletion, and normalized values. */
export const objectRules = {
  'unique.conflict': {
    statement: 'a value that must be unique is a conflict while another object holds it, and free after its deletion',
    source: behaviour,
    operator: heldBy('cluster/bad-input.test.ts'),
  },
  'unique.nothing-else': {
    statement: 'two objects may share a description',
    source: behaviour,
    operator: serverOnly('the operator tells objects apart by their markers, never by texts'),
  },
  'policies.delete-in-use': {
    statement: 'an IP policy in use may be deleted, takes its rules with it, and the edge still refers to it',
    source: 'management-api.md § States and transitions',
    operator: heldBy('cluster/in-use.test.ts'),
  },
  'policies.cidr-canonical': {
    statement: 'a cidr is stored and returned in canonical form',
    source: values,
    operator: heldBy('unit/kinds/ip-policy-plan.test.ts', 'unit/kinds/cidr.test.ts'),
  },
  'policies.cidr-invalid': {
    statement: 'a cidr with host bits set, or that is none, is refused',
    source: values,
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
  'policies.cidr-once': {
    statement: 'the same cidr twice in one policy is a conflict, and in two policies it is not',
    source: values,
    operator: heldBy('unit/kinds/ip-policy-plan.test.ts'),
  },
  'in-use.backend-of-edge': {
    statement: 'a backend that an edge uses cannot be deleted, and the refusal names the edge',
    source: behaviour,
    operator: heldBy('cluster/in-use.test.ts'),
  },
  'in-use.backend-of-backend': {
    statement:
      'a backend that a weighted or failover backend lists cannot be deleted, and the refusal names the parent',
    source: behaviour,
    operator: heldBy('cluster/in-use.test.ts'),
  },
  'in-use.disabled-module-lets-go': {
    statement: 'a backend whose edge module became enabled false alone can be deleted',
    source: behaviour,
    operator: heldBy('unit/kinds/edge.test.ts'),
  },
  'in-use.destination': {
    statement:
      'an event destination that a subscription lists cannot be deleted, and the refusal names the subscription',
    source: behaviour,
    operator: heldBy('cluster/in-use.test.ts'),
  },
  'in-use.certificate-authority': {
    statement: 'a certificate authority that an edge uses cannot be deleted',
    source: behaviour,
    operator: heldBy('cluster/in-use.test.ts'),
  },
  'in-use.domain': {
    statement:
      'a reserved domain or address in the hostports of an edge cannot be deleted, and the refusal names the edge',
    source: behaviour,
    operator: heldBy('unit/kinds/edge.test.ts', 'cluster/in-use.test.ts'),
  },
  'backends.children-exist': {
    statement: 'a weighted or failover backend refuses a child that does not exist, naming it',
    source: behaviour,
    operator: heldBy('cluster/bad-input.test.ts'),
  },
  'backends.weights': {
    statement: 'a weight is a whole number from 0 to 10000',
    source: 'management-api.md § Limits',
    operator: heldBy('cluster/kinds/bounds.test.ts'),
  },
  'backends.no-cycle': {
    statement: 'an update that would make a backend its own descendant is refused',
    source: behaviour,
    operator: heldBy('cluster/bad-input.test.ts'),
  },
  'backends.failover-order': {
    statement: 'a failover backend keeps its children in the order given',
    source: 'management-api.md § Edges and backends',
    operator: heldBy('unit/kinds/backend.test.ts'),
  },
  'backends.header-names': {
    statement: 'header names are returned lower-cased, label keys to the letter',
    source: values,
    operator: heldBy('unit/kinds/backend.test.ts'),
  },
  'backends.no-text-limits': {
    statement: 'the description and metadata of a backend are limited by the body alone',
    source: values,
    operator: serverOnly('the texts of a Backend are limited only as far as the apiserver needs a bound'),
  },
} satisfies Rules
