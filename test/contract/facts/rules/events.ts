import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const special = 'management-api.md § Endpoints, special rule 3'
const values = 'api-decisions.md § Values'
const behaviour = 'api-decisions.md § Behaviour'

/** Event destinations and subscriptions. */
export const eventRules = {
  'destinations.exactly-one-member': {
    statement: 'a target with no member or with two is refused',
    source: special,
    operator: heldBy('cluster/kinds/refusals.test.ts', 'unit/kinds/event-destination.test.ts'),
  },
  'destinations.every-member': {
    statement: 'each kind of target is returned with its values, the other members null',
    source: 'management-api.md § Events',
    operator: heldBy('unit/kinds/reach.test.ts', 'contract/kinds/generated-specs.test.ts'),
  },
  'destinations.auth-exactly-one': {
    statement: 'a cloud auth with neither role nor creds, or with both, is refused',
    source: special,
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
  'destinations.secrets-hidden': {
    statement: 'no response shows monitor.api_key or cloud_secret_access_key',
    source: values,
    operator: heldBy('unit/kinds/event-destination.test.ts'),
  },
  'destinations.secret-kept': {
    statement: 'an update may leave the secret of the same member out, and a change of member may not',
    source: behaviour,
    operator: heldBy('unit/kinds/event-destination.test.ts'),
  },
  'destinations.target-replaced': {
    statement: 'an update replaces the whole target',
    source: behaviour,
    operator: heldBy('contract/kinds/generated-specs.test.ts'),
  },
  'destinations.s3': {
    statement: 'an s3 target is refused as not supported',
    source: values,
    operator: heldBy('unit/kinds/event-destination.test.ts'),
  },
  'destinations.format-case': {
    statement: 'the format is accepted in any case, returned in lower case, and nothing but JSON',
    source: values,
    operator: heldBy('unit/kinds/fixed-point.test.ts'),
  },
  'subscriptions.source-uri': {
    statement: 'each source has the address <subscription uri>/sources/<type>',
    source: 'management-api.md § Events',
    operator: heldBy('unit/kinds/facts.test.ts'),
  },
  'subscriptions.source-types': {
    statement: 'a source type of the form <name>.v<number> is accepted and any other form refused',
    source: behaviour,
    operator: heldBy('cluster/kinds/bounds.test.ts'),
  },
  'subscriptions.sources-added': {
    statement: 'POST on sources adds a type once; the same type again is a conflict',
    source: behaviour,
    operator: serverOnly(
      'the operator replaces the sources whole by PATCH; the contract does not show these addresses',
    ),
  },
  'subscriptions.sources-read-and-removed': {
    statement: 'a source is listed, read by its type, removed with 204, and then not found',
    source: behaviour,
    operator: serverOnly(
      'the operator replaces the sources whole by PATCH; the contract does not show these addresses',
    ),
  },
  'subscriptions.lists-replaced': {
    statement: 'an update replaces sources and destinations whole, an empty list clears them',
    source: 'management-api.md § Endpoints',
    operator: heldBy('contract/kinds/generated-specs.test.ts'),
  },
  'events.recorded': {
    statement: 'a change of an object is recorded as a delivery to each destination subscribed to its event type',
    source: behaviour,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'events.types': {
    statement:
      'creating, updating and deleting fire created, updated and deleted events under the name of the collection',
    source: behaviour,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'events.payload': {
    statement: 'an event has an id, its type, the time and the object as the API shows it',
    source: behaviour,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'events.no-secret': {
    statement: 'no event carries a token or the secret of a target',
    source: values,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'events.sub-resources': {
    statement: 'a change through an address below an object fires the update of the object',
    source: behaviour,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'events.cascade': {
    statement: 'the rules that go with their policy fire deletions of their own',
    source: behaviour,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'events.unchanged': {
    statement: 'a request that changes nothing, or that is refused, fires no event',
    source: behaviour,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'events.certificates': {
    statement: 'each step of a certificate job fires an update at its time',
    source: behaviour,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'events.subscription-as-it-stands': {
    statement: 'a subscription routes the events from its own creation on, up to its own last update',
    source: behaviour,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
} satisfies Rules
