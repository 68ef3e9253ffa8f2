import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const special = 'management-api.md § Endpoints, special rule 3'
const values = 'api-decisions.md § Values'
const behaviour = 'api-decisions.md § Behaviour'

/** Event destinations and subscriptions. */
export const eventRules: readonly RuleFact[] = [
  {
    id: 'destinations.exactly-one-member',
    statement: 'a target with no member or with two is refused',
    source: special,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > EventDestination without target',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > EventDestination with two targets',
      'unit/kinds/event-destination.test.ts > the target is the one member that the spec has, with the values of its Secrets',
    ),
    refusal: { status: 400, names: ['target'] },
  },
  {
    id: 'destinations.every-member',
    statement: 'each kind of target is returned with its values, the other members null',
    source: 'management-api.md § Events',
    due: 'now',
    operator: heldBy(
      'unit/kinds/reach.test.ts > whatever a spec of EventDestination says stands in a request',
      'contract/kinds/generated-specs.test.ts > any spec of EventDestination > is taken, needs no second look, and comes to the same whatever was before',
    ),
  },
  {
    id: 'destinations.auth-exactly-one',
    statement: 'a cloud auth with neither role nor creds, or with both, is refused',
    source: special,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > EventDestination with a cloud target that nobody signs i…',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'destinations.secrets-hidden',
    statement: 'no response shows monitor.api_key or cloud_secret_access_key',
    source: values,
    due: 'now',
    operator: heldBy('unit/kinds/event-destination.test.ts > no secret is ever among what is compared'),
  },
  {
    id: 'destinations.secret-kept',
    statement: 'an update may leave the secret of the same member out, and a change of member may not',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/kinds/event-destination.test.ts > the target is sent again when a Secret changes, and only then',
    ),
  },
  {
    id: 'destinations.target-replaced',
    statement: 'an update replaces the whole target',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'contract/kinds/generated-specs.test.ts > any spec of EventDestination > is taken, needs no second look, and comes to the same whatever was before',
    ),
  },
  {
    id: 'destinations.s3',
    statement: 'an s3 target is refused as not supported',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/event-destination.test.ts > a target that Culvert does not know is shown by the API’s name for it',
    ),
    refusal: { status: 400, names: ['s3'] },
  },
  {
    id: 'destinations.format-case',
    statement: 'the format is accepted in any case, returned in lower case, and nothing but JSON',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/fixed-point.test.ts > after one write nothing is left to do, whatever the spec was before, for EventDestination in event_destinations',
    ),
    refusal: { status: 400, names: ['format'] },
  },
  {
    id: 'subscriptions.source-uri',
    statement: 'each source has the address <subscription uri>/sources/<type>',
    source: 'management-api.md § Events',
    due: 'now',
    operator: heldBy('unit/kinds/facts.test.ts > every response field that no request sets is in the status'),
  },
  {
    id: 'subscriptions.source-types',
    statement: 'a source type of the form <name>.v<number> is accepted and any other form refused',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/bounds.test.ts > every bound in the spec of EventSubscription is kept by the apiserver, which names the field',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'subscriptions.sources-added',
    statement: 'POST on sources adds a type once; the same type again is a conflict',
    source: behaviour,
    due: 'now',
    operator: serverOnly(
      'the operator replaces the sources whole by PATCH; the contract does not show these addresses',
    ),
    refusal: { status: 409 },
  },
  {
    id: 'subscriptions.sources-read-and-removed',
    statement: 'a source is listed, read by its type, removed with 204, and then not found',
    source: behaviour,
    due: 'now',
    operator: serverOnly(
      'the operator replaces the sources whole by PATCH; the contract does not show these addresses',
    ),
  },
  {
    id: 'subscriptions.lists-replaced',
    statement: 'an update replaces sources and destinations whole, an empty list clears them',
    source: 'management-api.md § Endpoints',
    due: 'now',
    operator: heldBy(
      'contract/kinds/generated-specs.test.ts > any spec of EventSubscription > is taken, needs no second look, and comes to the same whatever was before',
    ),
  },
  {
    id: 'events.recorded',
    statement: 'a change of an object is recorded as a delivery to each destination subscribed to its event type',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'events.types',
    statement:
      'creating, updating and deleting fire created, updated and deleted events under the name of the collection',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'events.payload',
    statement: 'an event has an id, its type, the time and the object as the API shows it',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'events.no-secret',
    statement: 'no event carries a token or the secret of a target',
    source: values,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'events.sub-resources',
    statement: 'a change through an address below an object fires the update of the object',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'events.cascade',
    statement: 'the rules that go with their policy fire deletions of their own',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'events.unchanged',
    statement: 'a request that changes nothing, or that is refused, fires no event',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'events.certificates',
    statement: 'each step of a certificate job fires an update at its time',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'events.subscription-as-it-stands',
    statement: 'a subscription routes the events from its own creation on, up to its own last update',
    source: behaviour,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
]
