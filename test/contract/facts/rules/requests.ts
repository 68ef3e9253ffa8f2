import type { RuleFact } from '../facts.ts'

const auth = 'management-api.md § Authentication'
const requests = 'api-decisions.md § Requests'
const errors = 'api-decisions.md § Errors'
const lists = 'api-decisions.md § Lists'
const pagination = 'management-api.md § Pagination'

/** How any request is judged, how errors look, and how lists are paged. */
export const requestRules: readonly RuleFact[] = [
  {
    id: 'auth.one-refusal',
    statement: 'a missing, a malformed and an unknown bearer token get the same 401 body',
    source: requests,
    due: 'now',
    refusal: { status: 401 },
  },
  {
    id: 'auth.created-key-works',
    statement: 'the token that the creation of an API key returned authenticates calls until the key is deleted',
    source: auth,
    due: 'now',
  },
  {
    id: 'auth.boot-key-is-listed',
    statement: 'the key the emulator boots with is an object in api_keys owned by a user, and shows no token',
    source: requests,
    due: 'now',
  },
  {
    id: 'auth.token-shown-once',
    statement: 'the token of an API key is in the create response and null in every later one',
    source: 'management-api.md § Endpoints, special rule 5',
    due: 'now',
  },
  {
    id: 'auth.admin-may-choose-owner',
    statement: 'an admin key may name another owner for a new API key',
    source: auth,
    due: 'now',
  },
  {
    id: 'auth.owner-needs-admin',
    statement: 'a key that is not an admin may not name an owner other than its own',
    source: requests,
    due: 'now',
    refusal: { status: 403 },
  },
  {
    id: 'auth.inactive-bot',
    statement: 'an API key of a bot user that is not active is refused',
    source: requests,
    due: 'now',
    refusal: { status: 403 },
  },
  {
    id: 'version.required',
    statement: 'a request without Service-Version 2 is refused',
    source: requests,
    due: 'now',
    refusal: { status: 400 },
  },
  {
    id: 'version.other-header-names',
    statement: 'a further version header name given at start is accepted in place of Service-Version',
    source: requests,
    due: 'now',
  },
  {
    id: 'body.empty-json-on-bodyless-methods',
    statement: 'GET and DELETE with Content-Type application/json and no body are accepted',
    source: requests,
    due: 'now',
  },
  {
    id: 'body.not-json',
    statement: 'a body that is not JSON is refused',
    source: requests,
    due: 'now',
    refusal: { status: 400 },
  },
  {
    id: 'body.not-an-object',
    statement: 'a JSON body that is not an object is refused',
    source: requests,
    due: 'now',
    refusal: { status: 400 },
  },
  {
    id: 'body.too-large',
    statement: 'a body over 1 MiB is refused, and one just under is not',
    source: requests,
    due: 'now',
    refusal: { status: 413 },
  },
  {
    id: 'body.other-content-type',
    statement: 'a body of another content type is refused',
    source: errors,
    due: 'now',
    refusal: { status: 415 },
  },
  {
    id: 'query.unknown-ignored',
    statement: 'an unknown query parameter is ignored',
    source: requests,
    due: 'now',
  },
  {
    id: 'rate.limited',
    statement: 'a key over its rate limit gets 429 with Retry-After in seconds, and another key does not',
    source: requests,
    due: 'now',
    refusal: { status: 429 },
  },
  {
    id: 'errors.body',
    statement:
      'every error body has error_code, status_code equal to the HTTP status, msg and a details map of strings',
    source: errors,
    due: 'now',
  },
  {
    id: 'errors.operation-id',
    statement: 'the Operation-Id header of an error repeats details.operation_id, and no two are alike',
    source: errors,
    due: 'now',
  },
  {
    id: 'errors.unknown-route',
    statement: 'an unknown route and an unknown id are both 404 and differ in their codes',
    source: errors,
    due: 'now',
    refusal: { status: 404 },
  },
  {
    id: 'errors.method',
    statement: 'a known path with a method it has not is refused',
    source: errors,
    due: 'now',
    refusal: { status: 405 },
  },
  {
    id: 'lists.limit-range',
    statement: 'a limit outside 1 to 100 or not a whole number is refused',
    source: lists,
    due: 'now',
    refusal: { status: 400 },
  },
  {
    id: 'lists.default-limit',
    statement: 'a list without a limit returns at most 100 objects',
    source: lists,
    due: 'now',
  },
  {
    id: 'lists.unknown-before-id',
    statement: 'a before_id that names nothing is refused',
    source: lists,
    due: 'now',
    refusal: { status: 400 },
  },
  {
    id: 'lists.newest-first',
    statement: 'following next_page_uri shows every object once, newest first, and ends with null',
    source: lists,
    due: 'now',
  },
  {
    id: 'lists.next-page-parameters',
    statement: 'next_page_uri carries the limit and, as before_id, the id of the last item returned',
    source: pagination,
    due: 'now',
  },
  {
    id: 'lists.exact-page-is-last',
    statement: 'a page that holds exactly the rest has no next page',
    source: lists,
    due: 'now',
  },
  {
    id: 'lists.host-of-the-client',
    statement: 'uri and next_page_uri are absolute with the host that the client used',
    source: lists,
    due: 'now',
  },
  {
    id: 'lists.stable-while-paging',
    statement: 'an object that exists throughout is shown although others are created and deleted between pages',
    source: lists,
    due: 'now',
  },
]
