import {
  BODY_TEXT,
  closed,
  doubled,
  gzipBomb,
  huge,
  informationalFlood,
  isList,
  isOfObject,
  keptThenClosed,
  noHTTP,
  object,
  page,
  prototypeKeys,
  redirect,
  resetInBody,
  retryAfter,
  slowBody,
  slowHeaders,
  text,
  wrongTypes,
} from '../../builders/hostile-answers.ts'
import type { Harm } from '../../builders/hostile-api.ts'

/** Where the fault is: in lists, in the answer to a create, or in the answer to a read of an existing object. */
export type Place = 'list' | 'create' | 'object'

export interface HostileCase {
  readonly what: string
  readonly place: Place
  readonly harm: Harm
  /** What the condition says; undefined if the fault changes nothing. */
  readonly says: RegExp | undefined
  /**
   * The next attempt is ten minutes away: either the test asks for one, or the account waits until then and the test
   * does not wait for it.
   */
  readonly again?: 'asked' | 'held'
  /** Maximum number of requests a minute. Default 100. */
  readonly perMinute?: number
}

export const AFFECTS: Readonly<Record<Place, (request: { method: string; path: string }) => boolean>> = {
  list: isList,
  create: ({ method }) => method === 'POST',
  object: (request) => request.method === 'GET' && isOfObject(request),
}

type Answer = readonly [what: string, harm: Harm, says: RegExp | undefined]

/** Faults that may replace any answer. */
const ANYWHERE: readonly Answer[] = [
  ['100 MB with Content-Length', huge(true), /the response is larger than 8388608 bytes/],
  ['100 MB without Content-Length', huge(false), /the response is larger than 8388608 bytes/],
  ['a gzip bomb', gzipBomb, /with a body that is not UTF-8/],
  ['a byte at a time', slowBody, /no complete response within 1 s/],
  ['headers a byte at a time', slowHeaders, /no complete response within 1 s/],
  [
    '100,000 levels of JSON',
    object(`"id":"bkdtg_1","metadata":${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    /deeper than 100 levels/,
  ],
  [
    '8 MB of tiny values',
    object(`"id":"bkdtg_1","metadata":[${'[],'.repeat(2_500_000)}[]]`),
    /of more than 500000 values/,
  ],
  ['invalid UTF-8', text(Buffer.from('7b226964223a22ff227d', 'hex')), /not UTF-8/],
  ['NaN', object('"id":NaN'), /not JSON/],
  ['HTML', text(`<html>${BODY_TEXT}</html>`), /not JSON/],
  ['a string', text(`"${BODY_TEXT}"`), /the body must be object/],
  ['204 without a body', text('', 204), /the body must be object/],
  ['an id that climbs', object('"id":"../api_keys/ak_1"'), /id is not valid in a path/],
  ['an id of 100 KB', object(`"id":"${BODY_TEXT.repeat(4_000)}"`), /id must NOT have more than 255 characters/],
  ['an empty id', object('"id":""'), /id must NOT have fewer than 1 characters/],
  ['an id that is null', object('"id":null'), /id must be string/],
  ['an id that is a number', object('"id":7'), /id must be string/],
  ['a connection reset in the body', resetInBody, /connection (reset|was closed)/],
  ['a connection closed', closed, /connection (reset|was closed)/],
  ['no HTTP', noHTTP, /the response of the server is not HTTP/],
  ['103 without end', informationalFlood, /no complete response within 1 s|the connection failed/],
  ['wrong types', wrongTypes, undefined],
  ['__proto__ and constructor', prototypeKeys, undefined],
  ['members twice and a byte order mark', doubled, undefined],
  ['a connection closed that was to be kept', keptThenClosed, undefined],
]

/** Every case; `elsewhere` is the address of a server that must receive nothing. */
export function hostileCases(elsewhere: string): readonly HostileCase[] {
  const other = new URL(elsewhere)
  const list = (what: string, harm: Harm, says: RegExp, more: Partial<HostileCase> = {}): HostileCase => {
    return { what, place: 'list', harm, says, ...more }
  }
  const query = ({ harmed }: { harmed: number }): string => `?page=${harmed}`
  return [
    ...(['list', 'create', 'object'] as const).flatMap((place) =>
      ANYWHERE.map(([what, harm, says]): HostileCase => ({ what, place, harm, says })),
    ),
    list('empty pages without end', page(query), /100 pages in a row contained nothing new/, { perMinute: 1000 }),
    list('the same page without end', page(query, 'same'), /100 pages in a row contained nothing new/, {
      perMinute: 1000,
    }),
    list('large pages without end', page(query, 'large'), /lists take more than \d+ bytes together/, {
      perMinute: 1000,
    }),
    list(
      'a cycle of pages',
      page(({ harmed }) => `?page=${harmed % 2}`),
      /points to a page that was already read/,
    ),
    list(
      'a page that leads to another host',
      page(() => `http://localhost:${other.port}/x`),
      /another scheme, host or port/,
    ),
    list(
      'a page that leads to another port',
      page(() => `${elsewhere}/x`),
      /another scheme, host or port/,
    ),
    list(
      'a page that leads to another scheme',
      page(() => `ftp://${other.host}/x`),
      /another scheme, host or port/,
    ),
    list(
      'a page without a scheme',
      page(() => `//${other.host}/x`),
      /another scheme, host or port/,
    ),
    list(
      'a page with an address of 1 MB',
      page(() => `?${'x'.repeat(1_000_000)}`),
      /longer than 8192 characters/,
    ),
    list('a list that is an object', text(`{"backends":{"${BODY_TEXT}":1}}`), /\/backends must be array/),
    list('a list of nulls', text('{"backends":[null]}'), /\/backends\/\* must be object/),
    list('a next page that is a number', text('{"backends":[],"next_page_uri":1}'), /\/next_page_uri must be string/),
    ...[301, 307, 308].flatMap((status): HostileCase[] => {
      const harm = redirect(status, `${elsewhere}/x`)
      const says = /returned a redirect/
      return [
        { what: `a redirect ${status}`, place: 'list', harm, says },
        { what: `a redirect ${status}`, place: 'create', harm, says, again: 'asked' },
      ]
    }),
    ...['-5', 'NaN', 'Thu, 01 Jan 1970 00:00:00 GMT', '0'].map((value) =>
      list(`429 with Retry-After ${value}`, retryAfter(429, value), /no: .*\[redacted\]/),
    ),
    ...['1000000000000', 'Fri, 31 Dec 9999 23:59:59 GMT'].flatMap((value) => [
      list(`429 with Retry-After ${value}`, retryAfter(429, value), /no: .*\[redacted\]/, { again: 'held' }),
      list(`503 with Retry-After ${value}`, retryAfter(503, value), /no: .*\[redacted\]/),
    ]),
  ]
}
