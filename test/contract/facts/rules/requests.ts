import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const auth = 'management-api.md § Authentication'
const requests = 'api-decisions.md § Requests'
const errors = 'api-decisions.md § Errors'
const lists = 'api-decisions.md § Lists'
const pagination = 'management-api.md § Pagination'

/** How requests are validated, the form of errors, and the paging of lists. */
export const requestRules: readonly RuleFact[] = [
  {
    id: 'auth.one-refusal',
    statement: 'a missing, a malformed and an unknown bearer token get the same 401 body',
    source: requests,
    due: 'now',
    operator: heldBy('cluster/bad-input.test.ts > a wrong API key'),
    refusal: { status: 401 },
  },
  {
    id: 'auth.created-key-works',
    statement: 'the token that the creation of an API key returned authenticates calls until the key is deleted',
    source: auth,
    due: 'now',
    operator: heldBy(
      'unit/api/client.test.ts > a request > carries the key, the version, the agent and, with a body, the content type',
    ),
  },
  {
    id: 'auth.boot-key-is-listed',
    statement: 'the key the emulator boots with is an object in api_keys owned by a user, and shows no token',
    source: requests,
    due: 'now',
    operator: serverOnly("a key that nothing marks is not the operator's and is left alone"),
  },
  {
    id: 'auth.token-shown-once',
    statement: 'the token of an API key is in the create response and null in every later one',
    source: 'management-api.md § Endpoints, special rule 5',
    due: 'now',
    operator: heldBy(
      'faults/matrix/scenarios/tokens.test.ts > the token of the kind APIKey > is in its Secret in the end, and nowhere else…',
      'unit/api/account-cache.test.ts > our own writes > are returned with the token, which is not kept',
    ),
  },
  {
    id: 'auth.admin-may-choose-owner',
    statement: 'an admin key may name another owner for a new API key',
    source: auth,
    due: 'now',
    operator: heldBy('unit/kinds/reach.test.ts > whatever a spec of APIKey says stands in a request'),
  },
  {
    id: 'auth.owner-needs-admin',
    statement: 'a key that is not an admin may not name an owner other than its own',
    source: requests,
    due: 'now',
    operator: heldBy(
      'unit/managed/run/reconcile-result.test.ts > every error has its result > ApiError Forbidden: stalled,terminal,Rejected',
    ),
    refusal: { status: 403 },
  },
  {
    id: 'auth.inactive-bot',
    statement: 'an API key of a bot user that is not active is refused',
    source: requests,
    due: 'now',
    operator: heldBy(
      'unit/managed/run/reconcile-result.test.ts > every error has its result > ApiError Forbidden: stalled,terminal,Rejected',
    ),
    refusal: { status: 403 },
  },
  {
    id: 'version.required',
    statement: 'a request without Service-Version 2 is refused',
    source: requests,
    due: 'now',
    operator: heldBy(
      'unit/api/client.test.ts > a request > carries the key, the version, the agent and, with a body, the content type',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'version.other-header-names',
    statement: 'a further version header name given at start is accepted in place of Service-Version',
    source: requests,
    due: 'now',
    operator: heldBy('unit/api/client.test.ts > a request > names the version in the header it is told to'),
  },
  {
    id: 'body.empty-json-on-bodyless-methods',
    statement: 'GET and DELETE with Content-Type application/json and no body are accepted',
    source: requests,
    due: 'now',
    operator: serverOnly('the operator sends no content type without a body'),
  },
  {
    id: 'body.not-json',
    statement: 'a body that is not JSON is refused',
    source: requests,
    due: 'now',
    operator: serverOnly('the operator never sends a body that is not JSON'),
    refusal: { status: 400 },
  },
  {
    id: 'body.not-an-object',
    statement: 'a JSON body that is not an object is refused',
    source: requests,
    due: 'now',
    operator: serverOnly('the operator never sends a body that is not an object'),
    refusal: { status: 400 },
  },
  {
    id: 'body.too-large',
    statement: 'a body over 1 MiB is refused, and one just under is not',
    source: requests,
    due: 'now',
    operator: heldBy('unit/api/client-failures.test.ts > an error answer > with status 413 is Invalid, definite: true'),
    refusal: { status: 413 },
  },
  {
    id: 'body.other-content-type',
    statement: 'a body of another content type is refused',
    source: errors,
    due: 'now',
    operator: heldBy(
      'unit/api/client.test.ts > a request > carries the key, the version, the agent and, with a body, the content type',
    ),
    refusal: { status: 415 },
  },
  {
    id: 'query.unknown-ignored',
    statement: 'an unknown query parameter is ignored',
    source: requests,
    due: 'now',
    operator: serverOnly('the operator never sends parameters other than limit and before_id'),
  },
  {
    id: 'rate.limited',
    statement: 'a key over its rate limit gets 429 with Retry-After in seconds, and another key does not',
    source: requests,
    due: 'now',
    operator: heldBy(
      'unit/api/rate-budget.test.ts > a 429 > holds the whole account for as long as it asks, ten minutes at most',
      'cluster/rate-budget.test.ts > 50 policies with three rules each are created as fast as 120 requests a minute allow, and none is refused',
    ),
    refusal: { status: 429 },
  },
  {
    id: 'errors.body',
    statement:
      'every error body has error_code, status_code equal to the HTTP status, msg and a details map of strings',
    source: errors,
    due: 'now',
    operator: heldBy(
      'unit/api/client-failures.test.ts > an error answer > with the body {"msg":"m"} is definite',
      'unit/api/client-failures.test.ts > an error answer > with the body "<html>Bad Request</html>" of a gateway is not definite',
    ),
  },
  {
    id: 'errors.operation-id',
    statement: 'the Operation-Id header of an error repeats details.operation_id, and no two are alike',
    source: errors,
    due: 'now',
    operator: heldBy(
      'unit/api/client-failures.test.ts > an error answer > shows neither the key, nor secrets of the body, nor the operation id, nor control characters',
    ),
  },
  {
    id: 'errors.unknown-route',
    statement: 'an unknown route and an unknown id are both 404 and differ in their codes',
    source: errors,
    due: 'now',
    operator: heldBy(
      'unit/api/client.test.ts > get and delete > tell of a 404 in the words of the API, without judging what it means',
      'unit/api/client.test.ts > get and delete > tell of a 404 with a page, without judging what it means',
      'unit/api/client.test.ts > get and delete > tell of a 404 without a body, without judging what it means',
      'unit/api/client.test.ts > get and delete > tell of a 404 in other JSON, without judging what it means',
    ),
    refusal: { status: 404 },
  },
  {
    id: 'errors.method',
    statement: 'a known path with a method it has not is refused',
    source: errors,
    due: 'now',
    operator: serverOnly('the operator never sends a method that the contract does not show'),
    refusal: { status: 405 },
  },
  {
    id: 'lists.limit-range',
    statement: 'a limit outside 1 to 100 or not a whole number is refused',
    source: lists,
    due: 'now',
    operator: serverOnly('the operator never sends a limit beyond 100'),
    refusal: { status: 400 },
  },
  {
    id: 'lists.default-limit',
    statement: 'a list without a limit returns at most 100 objects',
    source: lists,
    due: 'now',
    operator: heldBy('unit/api/client-lists.test.ts > a list > follows next_page_uri that is …'),
  },
  {
    id: 'lists.unknown-before-id',
    statement: 'a before_id that names nothing is refused',
    source: lists,
    due: 'now',
    operator: heldBy(
      'unit/api/client-lists.test.ts > a list > starts over when its cursor is lost, and gives each object once',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'lists.newest-first',
    statement: 'following next_page_uri shows every object once, newest first, and ends with null',
    source: lists,
    due: 'now',
    operator: heldBy('unit/api/client-lists.test.ts > a list > gives an object that two pages hold once'),
  },
  {
    id: 'lists.next-page-parameters',
    statement: 'next_page_uri carries the limit and, as before_id, the id of the last item returned',
    source: pagination,
    due: 'now',
    operator: heldBy('unit/api/client-lists.test.ts > a list > follows next_page_uri that is …'),
  },
  {
    id: 'lists.exact-page-is-last',
    statement: 'a page that holds exactly the rest has no next page',
    source: lists,
    due: 'now',
    operator: heldBy('unit/api/client-lists.test.ts > a list > ends at a next_page_uri that is absent or empty'),
  },
  {
    id: 'lists.host-of-the-client',
    statement: 'uri and next_page_uri are absolute with the host that the client used',
    source: lists,
    due: 'now',
    operator: heldBy(
      'unit/api/client-lists.test.ts > a list > follows next_page_uri that is …',
      'unit/api/client-lists.test.ts > a list > refuses a next_page_uri outside the path of the base URL, also through dots',
    ),
  },
  {
    id: 'lists.stable-while-paging',
    statement: 'an object that exists throughout is shown although others are created and deleted between pages',
    source: lists,
    due: 'now',
    operator: heldBy(
      'unit/api/account-cache.model.test.ts > the cache never shows anything older than our last answered write, and ends equal to the server',
    ),
  },
]
