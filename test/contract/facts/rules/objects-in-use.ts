import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'

/** References between objects, how they prevent deletion, and normalized values. */
export const objectRules: readonly RuleFact[] = [
  {
    id: 'unique.conflict',
    statement: 'a value that must be unique is a conflict while another object holds it, and free after its deletion',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/bad-input.test.ts > a domain that is taken'),
    refusal: { status: 409 },
  },
  {
    id: 'unique.nothing-else',
    statement: 'two objects may share a description',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator tells objects apart by their markers, never by texts'),
  },
  {
    id: 'policies.delete-in-use',
    statement: 'an IP policy in use may be deleted, takes its rules with it, and the edge continues referring to it',
    source: 'management-api.md § States and transitions',
    due: 'now',
    operator: heldBy('cluster/in-use.test.ts > IPPolicy/office, which Edge/…'),
  },
  {
    id: 'policies.cidr-canonical',
    statement: 'a cidr is stored and returned in canonical form',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ip-policy-plan.test.ts > a range that the API spells differently is the same range',
      'unit/kinds/cidr.test.ts > a canonical text stays as it is',
    ),
  },
  {
    id: 'policies.cidr-invalid',
    statement: 'a cidr with host bits set, or that is none, is refused',
    source: values,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > IPPolicy with host bits',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > IPPolicy with what is no address',
    ),
    refusal: { status: 400, names: ['cidr'] },
  },
  {
    id: 'policies.cidr-once',
    statement: 'the same cidr twice in one policy is a conflict, and in two policies it is not',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ip-policy-plan.test.ts > on the way between any two sets of rules no address is admitted that both refuse, and none is refused that both admit',
    ),
    refusal: { status: 409 },
  },
  {
    id: 'in-use.backend-of-edge',
    statement: 'a backend that an edge uses cannot be deleted, and the refusal names the edge',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/in-use.test.ts > Backend/shop, which Edge/…'),
    refusal: { status: 409 },
  },
  {
    id: 'in-use.backend-of-backend',
    statement:
      'a backend that a weighted or failover backend lists cannot be deleted, and the refusal names the parent',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/in-use.test.ts > Backend/shop, which Backend/…'),
    refusal: { status: 409 },
  },
  {
    id: 'in-use.disabled-module-lets-go',
    statement: 'a backend whose edge module became enabled false alone can be deleted',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/kinds/edge.test.ts > a module that the spec switches off > releases what it refers to once it has left the spec',
    ),
  },
  {
    id: 'in-use.destination',
    statement:
      'an event destination that a subscription lists cannot be deleted, and the refusal names the subscription',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/in-use.test.ts > EventDestination/log, which …'),
    refusal: { status: 409 },
  },
  {
    id: 'in-use.certificate-authority',
    statement: 'a certificate authority that an edge uses cannot be deleted',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/in-use.test.ts > CertificateAuthority/partners, which …'),
    refusal: { status: 409 },
  },
  {
    id: 'in-use.domain',
    statement:
      'a reserved domain or address in the hostports of an edge cannot be deleted, and the refusal names the edge',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/kinds/edge.test.ts > a domain or address is in use while an edge listens on it',
      'cluster/in-use.test.ts > ReservedDomain/shop, which …',
      'cluster/in-use.test.ts > ReservedAddress/database, which …',
    ),
    refusal: { status: 409 },
  },
  {
    id: 'backends.children-exist',
    statement: 'a weighted or failover backend refuses a child that does not exist, naming it',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/bad-input.test.ts > a reference to a missing resource, by name'),
    refusal: { status: 400, names: ['backends'] },
  },
  {
    id: 'backends.weights',
    statement: 'a weight is a whole number from 0 to 10000',
    source: 'management-api.md § Limits',
    due: 'now',
    operator: heldBy(
      'cluster/kinds/bounds.test.ts > every bound in the spec of Backend is kept by the apiserver, which names the field',
    ),
    refusal: { status: 400, names: ['backends'] },
  },
  {
    id: 'backends.no-cycle',
    statement: 'an update that would make a backend its own descendant is refused',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/bad-input.test.ts > Backends that refer to each other in a cycle'),
    refusal: { status: 400 },
  },
  {
    id: 'backends.failover-order',
    statement: 'a failover backend keeps its children in the order given',
    source: 'management-api.md § Edges and backends',
    due: 'now',
    operator: heldBy('unit/kinds/backend.test.ts > the order of a failover backend counts'),
  },
  {
    id: 'backends.header-names',
    statement: 'header names are returned lower-cased, label keys to the letter',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/backend.test.ts > names of headers are sent as they are written and compared without their case',
    ),
  },
  {
    id: 'backends.no-text-limits',
    statement: 'the description and metadata of a backend are limited by the body alone',
    source: values,
    due: 'now',
    operator: serverOnly('the texts of a Backend are limited only as far as the apiserver needs a bound'),
  },
]
