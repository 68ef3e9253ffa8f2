import type { RuleFact } from '../facts.ts'

const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'

/** What objects refer to, what that keeps from being deleted, and values that are put in order. */
export const objectRules: readonly RuleFact[] = [
  {
    id: 'unique.conflict',
    statement: 'a value that must be unique is a conflict while another object holds it, and free after its deletion',
    source: behaviour,
    due: 'now',
    refusal: { status: 409 },
  },
  {
    id: 'unique.nothing-else',
    statement: 'two objects may share a description',
    source: behaviour,
    due: 'now',
  },
  {
    id: 'policies.delete-in-use',
    statement: 'an IP policy in use may be deleted, takes its rules with it, and the edge goes on referring to it',
    source: 'management-api.md § States and transitions',
    due: 'now',
  },
  {
    id: 'policies.cidr-canonical',
    statement: 'a cidr is stored and returned in canonical form',
    source: values,
    due: 'now',
  },
  {
    id: 'policies.cidr-invalid',
    statement: 'a cidr with host bits set, or that is none, is refused',
    source: values,
    due: 'now',
    refusal: { status: 400, names: ['cidr'] },
  },
  {
    id: 'policies.cidr-once',
    statement: 'the same cidr twice in one policy is a conflict, and in two policies it is not',
    source: values,
    due: 'now',
    refusal: { status: 409 },
  },
  {
    id: 'in-use.backend-of-edge',
    statement: 'a backend that an edge uses cannot be deleted, and the refusal names the edge',
    source: behaviour,
    due: 'now',
    refusal: { status: 409 },
  },
  {
    id: 'in-use.backend-of-backend',
    statement:
      'a backend that a weighted or failover backend lists cannot be deleted, and the refusal names the parent',
    source: behaviour,
    due: 'now',
    refusal: { status: 409 },
  },
  {
    id: 'in-use.disabled-module-lets-go',
    statement: 'a backend whose edge module became enabled false alone can be deleted',
    source: behaviour,
    due: 'now',
  },
  {
    id: 'in-use.destination',
    statement:
      'an event destination that a subscription lists cannot be deleted, and the refusal names the subscription',
    source: behaviour,
    due: 'now',
    refusal: { status: 409 },
  },
  {
    id: 'in-use.certificate-authority',
    statement: 'a certificate authority that an edge uses cannot be deleted',
    source: behaviour,
    due: 'now',
    refusal: { status: 409 },
  },
  {
    id: 'in-use.domain',
    statement:
      'a reserved domain or address in the hostports of an edge cannot be deleted, and the refusal names the edge',
    source: behaviour,
    due: 'now',
    refusal: { status: 409 },
  },
  {
    id: 'backends.children-exist',
    statement: 'a weighted or failover backend refuses a child that does not exist, naming it',
    source: behaviour,
    due: 'now',
    refusal: { status: 400, names: ['backends'] },
  },
  {
    id: 'backends.weights',
    statement: 'a weight is a whole number from 0 to 10000',
    source: 'management-api.md § Limits',
    due: 'now',
    refusal: { status: 400, names: ['backends'] },
  },
  {
    id: 'backends.no-cycle',
    statement: 'an update that would make a backend its own descendant is refused',
    source: behaviour,
    due: 'now',
    refusal: { status: 400 },
  },
  {
    id: 'backends.failover-order',
    statement: 'a failover backend keeps its children in the order given',
    source: 'management-api.md § Edges and backends',
    due: 'now',
  },
  {
    id: 'backends.header-names',
    statement: 'header names are returned lower-cased, label keys to the letter',
    source: values,
    due: 'now',
  },
  {
    id: 'backends.no-text-limits',
    statement: 'the description and metadata of a backend are limited by the body alone',
    source: values,
    due: 'now',
  },
]
