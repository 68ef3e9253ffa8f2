import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const auth = 'management-api.md § Authentication'
const requests = 'api-decisions.md § Requests'
const errors = 'api-decisions.md § Errors'
const lists = 'api-decisions.md § Lists'
const pagination = 'management-api.md § Pagination'

/** How requests are validated, the form of errors, and the paging of lists. */
export const requestRules = {
  'auth.one-refusal': {
    statement: 'a missing, a malformed and an unknown bearer token get the same 401 body',
    source: requests,
    operator: heldBy('cluster/bad-input.test.ts'),
  },
  'auth.created-key-works': {
    statement: 'the token that the creation of an API key returned authenticates calls until the key is deleted',
    source: auth,
    operator: heldBy('unit/api/client.test.ts'),
  },
  'auth.boot-key-is-listed': {
    statement: 'the key the emulator boots with is an object in api_keys owned by a user, and shows no token',
    source: requests,
    operator: serverOnly("a key that nothing marks is not the operator's and is left alone"),
  },
  'auth.token-shown-once': {
    statement: 'the token of an API key is in the create response and null in every later one',
    source: 'management-api.md § Endpoints, special rule 5',
    operator: heldBy('faults/matrix/scenarios/tokens.test.ts', 'unit/api/account-cache.test.ts'),
  },
  'auth.admin-may-choose-owner': {
    statement: 'an admin key may name another owner for a new API key',
    source: auth,
    operator: heldBy('unit/kinds/reach.test.ts'),
  },
  'auth.owner-needs-admin': {
    statement: 'a key that is not an admin may not name an owner other than its own',
    source: requests,
    operator: heldBy('unit/managed/run/reconcile-result.test.ts'),
  },
  'auth.inactive-bot': {
    statement: 'an API key of a bot user that is not active is refused',
    source: requests,
    operator: heldBy('unit/managed/run/reconcile-result.test.ts'),
  },
  'version.required': {
    statement: 'a request without Service-Version 2 is refused',
    source: requests,
    operator: heldBy('unit/api/client.test.ts'),
  },
  'version.other-header-names': {
    statement: 'a further version header name given at start is accepted instead of Service-Version',
    source: requests,
    operator: heldBy('unit/api/client.test.ts'),
  },
  'body.empty-json-on-bodyless-methods': {
    statement: 'GET and DELETE with Content-Type application/json and no body are accepted',
    source: requests,
    operator: serverOnly('the operator sends no content type without a body'),
  },
  'body.not-json': {
    statement: 'a body that is not JSON is refused',
    source: requests,
    operator: serverOnly('the operator never sends a body that is not JSON'),
  },
  'body.not-an-object': {
    statement: 'a JSON body that is not an object is refused',
    source: requests,
    operator: serverOnly('the operator never sends a body that is not an object'),
  },
  'body.too-large': {
    statement: 'a body over 1 MiB is refused, and one just under is not',
    source: requests,
    operator: heldBy('unit/api/client-failures.test.ts'),
  },
  'body.other-content-type': {
    statement: 'a body of another content type is refused',
    source: errors,
    operator: heldBy('unit/api/client.test.ts'),
  },
  'query.unknown-ignored': {
    statement: 'an unknown query parameter is ignored',
    source: requests,
    operator: serverOnly('the operator never sends parameters other than limit and before_id'),
  },
  'rate.limited': {
    statement: 'a key over its rate limit gets 429 with Retry-After in seconds, and another key does not',
    source: requests,
    operator: heldBy('unit/api/rate-budget.test.ts', 'cluster/rate-budget.test.ts'),
  },
  'errors.body': {
    statement:
      'every error body has error_code, status_code equal to the HTTP status, msg and a details map of strings',
    source: errors,
    operator: heldBy('unit/api/client-failures.test.ts'),
  },
  'errors.operation-id': {
    statement: 'the Operation-Id header of an error repeats details.operation_id, and no two are alike',
    source: errors,
    operator: heldBy('unit/api/client-failures.test.ts'),
  },
  'errors.unknown-route': {
    statement: 'an unknown route and an unknown id are both 404 and differ in their codes',
    source: errors,
    operator: heldBy('unit/api/client.test.ts'),
  },
  'errors.method': {
    statement: 'a known path with a method it has not is refused',
    source: errors,
    operator: serverOnly('the operator never sends a method that the contract does not show'),
  },
  'lists.limit-range': {
    statement: 'a limit outside 1 to 100 or not a whole number is refused',
    source: lists,
    operator: serverOnly('the operator never sends a limit beyond 100'),
  },
  'lists.default-limit': {
    statement: 'a list without a limit returns at most 100 objects',
    source: lists,
    operator: heldBy('unit/api/client-lists.test.ts'),
  },
  'lists.unknown-before-id': {
    statement: 'a before_id that names nothing is refused',
    source: lists,
    operator: heldBy('unit/api/client-lists.test.ts'),
  },
  'lists.newest-first': {
    statement: 'following next_page_uri shows every object once, newest first, and ends with null',
    source: lists,
    operator: heldBy('unit/api/client-lists.test.ts'),
  },
  'lists.next-page-parameters': {
    statement: 'next_page_uri carries the limit and, as before_id, the id of the last item returned',
    source: pagination,
    operator: heldBy('unit/api/client-lists.test.ts'),
  },
  'lists.exact-page-is-last': {
    statement: 'a page that holds exactly the rest has no next page',
    source: lists,
    operator: heldBy('unit/api/client-lists.test.ts'),
  },
  'lists.host-of-the-client': {
    statement: 'uri and next_page_uri are absolute with the host that the client used',
    source: lists,
    operator: heldBy('unit/api/client-lists.test.ts'),
  },
  'lists.stable-while-paging': {
    statement: 'an object that exists throughout is shown although others are created and deleted between pages',
    source: lists,
    operator: heldBy('unit/api/account-cache.model.test.ts'),
  },
} satisfies Rules
