/** One thing that the contract leaves open. */
export interface ChoiceEntry {
  readonly point: string
  /**
   * The rows of `docs/api-decisions.md` that decide it, by their first cells, or the section, by its heading: there the
   * page names the alternatives.
   */
  readonly decidedIn: readonly string[]
  /**
   * `spelling`: only what answers show, and how they write it; `behaviour`: what the service does and keeps; `traffic`:
   * what becomes of connections, which no client of the API sees.
   */
  readonly about: 'spelling' | 'behaviour' | 'traffic'
  /** The value that `docs/api-decisions.md` decides on. */
  readonly decided: string
  /** Every value with its meaning, including the decided one. */
  readonly values: Readonly<Record<string, string>>
}

/** The row about what the service chooses. */
const CHOSEN =
  'what the service chooses where a spec leaves a part of a field open (`min_version`; `monitortags`, `service` and `monitorsite` of a target)'

/**
 * What the contract leaves open and a server may do differently from ours: the one table behind the emulator's flags,
 * its code and the page of the decisions. A server with any of these values still keeps the contract.
 */
export const CHOICES = {
  'error-body': {
    point: 'body of an error',
    decidedIn: ['## Errors'],
    about: 'spelling',
    decided: 'documented',
    values: {
      documented: '`{error_code, status_code, msg, details}`',
      error: '`{"error": "sentence"}`',
      message: '`{"message": "sentence"}`',
      nested: '`{"error": {"message": "sentence", "type": "…"}}`',
      problem: '`{"type", "title", "status", "detail"}`, as RFC 9457 has it, in `application/problem+json`',
      text: 'only the sentence, as `text/plain`',
      none: 'no body',
    },
  },
  'refusal-status': {
    point: 'HTTP status of a refusal',
    decidedIn: ['## Errors'],
    about: 'spelling',
    decided: 'by-class',
    values: {
      'by-class': '400 for an invalid request, 409 for a conflict',
      unprocessable: '422 for an invalid body, 409 for a conflict',
      'bad-request': '400 for both',
      'precondition-failed': '412 for both',
    },
  },
  'unknown-id': {
    point: 'HTTP status for an id that names nothing',
    decidedIn: ['## Errors'],
    about: 'spelling',
    decided: 'not-found',
    values: { 'not-found': '404', gone: '410' },
  },
  'unknown-reference': {
    point: 'HTTP status for an id in a body that names nothing',
    decidedIn: ['an id in a body that does not exist'],
    about: 'spelling',
    decided: 'invalid',
    values: { invalid: '400', 'not-found': '404', conflict: '409' },
  },
  'update-answer': {
    point:
      'answer to an update where the contract shows none (TLS edges, SSH user certificates, CAs, event destinations)',
    decidedIn: ['SSH certificate update', '`certificate_authorities` update', '`event_destinations` update'],
    about: 'spelling',
    decided: 'object',
    values: { object: 'the object', 'empty-object': '200 with `{}`', nothing: '204 without a body' },
  },
  'list-order': {
    point: 'order of a list',
    decidedIn: ['## Lists'],
    about: 'spelling',
    decided: 'newest-first',
    values: {
      'newest-first': 'newest first',
      'oldest-first': 'oldest first',
      shuffled: 'in no recognisable order, but the same each time',
    },
  },
  'page-size': {
    point: 'objects on a page of a list',
    decidedIn: ['## Lists'],
    about: 'spelling',
    decided: 'hundred',
    values: { hundred: '100', three: 'at most 3, whatever `limit` says', one: '1, whatever `limit` says' },
  },
  'next-page-uri': {
    point: 'form of `next_page_uri`',
    decidedIn: ['## Lists'],
    about: 'spelling',
    decided: 'absolute',
    values: {
      absolute: 'with scheme and host',
      path: 'a path with its query',
      relative: 'the same without the leading slash, relative to the base address',
      query: 'only the query, after `?`',
    },
  },
  'last-page': {
    point: '`next_page_uri` of the last page',
    decidedIn: ['## Lists'],
    about: 'spelling',
    decided: 'null',
    values: { null: 'null', absent: 'absent' },
  },
  'empty-lists': {
    point: 'a list without objects',
    decidedIn: ['## Lists'],
    about: 'spelling',
    decided: 'array',
    values: { array: '`[]`', null: 'null, under the same key' },
  },
  uris: {
    point: 'form of `uri`',
    decidedIn: ['`uri`'],
    about: 'spelling',
    decided: 'absolute',
    values: { absolute: 'with scheme and host', path: 'a path relative to the base address' },
  },
  'unknown-fields': {
    point: 'fields that the contract does not name',
    decidedIn: ['fields of an answer that the contract does not name'],
    about: 'spelling',
    decided: 'none',
    values: {
      none: 'none',
      constant:
        'some in every object, inside of modules and references too; among them those that it names for other kinds, such as `metadata` of a bot user',
      changing: 'the same, and one of them changes each time',
    },
  },
  empties: {
    point: 'empty values',
    decidedIn: ['absent optional values'],
    about: 'spelling',
    decided: 'by-field',
    values: {
      'by-field': '`""`, `[]`, `{}` or null, depending on the field',
      absent: 'left out',
      null: 'null',
      empty:
        '`""`, `[]` or `{}` by the type of the field; references, objects and what the contract has null stay null',
    },
  },
  times: {
    point: 'form of times',
    decidedIn: ['times'],
    about: 'spelling',
    decided: 'utc',
    values: {
      utc: 'in UTC, whole seconds',
      offset: 'with the offset +05:30',
      fractions: 'in UTC, with nine digits of a second',
      'lower-case': '`t` and `z` in lower case, and twelve digits of a second: RFC 3339 allows both',
    },
  },
  'host-case': {
    point: 'case of the names of hosts, also in rules of an ACL and as principals of host certificates',
    decidedIn: ['names in domains and hostports', 'ACL', '`principals`'],
    about: 'spelling',
    decided: 'lower',
    values: { lower: 'lower', upper: 'UPPER' },
  },
  'header-names': {
    point: 'case of the names of headers of an HTTP response backend',
    decidedIn: ['labels, headers'],
    about: 'spelling',
    decided: 'lower',
    values: { lower: 'lower', capitalised: 'Capitalised-Words' },
  },
  cidr: {
    point: 'form of a cidr',
    decidedIn: ['cidr'],
    about: 'spelling',
    decided: 'canonical',
    values: {
      canonical: 'canonical',
      bare: 'a single address without `/32` or `/128`',
      long: 'IPv6 in eight groups of four digits, in upper case',
    },
  },
  pem: {
    point: 'text of a `ca_pem`',
    decidedIn: ['CA PEM'],
    about: 'spelling',
    decided: 'to-the-letter',
    values: {
      'to-the-letter': 'as it was sent',
      rewrapped: 'lines of 76 characters that end in CR LF, nothing between the certificates',
      unwrapped: 'one line, with a line of text before each certificate, an empty one after it',
    },
  },
  'public-keys': {
    point: 'text of a `public_key`',
    decidedIn: ['equality of public keys'],
    about: 'spelling',
    decided: 'to-the-letter',
    values: {
      'to-the-letter': 'as it was sent',
      'no-comment': 'only type and key',
      'line-break': 'with a line break at its end',
    },
  },
  sets: {
    point: 'order of sets (hostports, ACL, references, sources, principals, usages, names of servers)',
    decidedIn: ['order of lists that are sets'],
    about: 'spelling',
    decided: 'as-sent',
    values: { 'as-sent': 'as it was sent', reversed: 'the last first' },
  },
  'single-rules': {
    point: '`inbound`, `outbound` and `actions` with one entry',
    decidedIn: ['`policy.inbound` / `outbound`, rule `actions`'],
    about: 'spelling',
    decided: 'list',
    values: { list: 'a list of one', object: 'the entry itself' },
  },
  enabled: {
    point: '`enabled` of a module that is applied',
    decidedIn: ['defaults'],
    about: 'spelling',
    decided: 'shown',
    values: { shown: 'true', omitted: 'left out, since true is what it is when unspecified' },
  },
  'disabled-modules': {
    point: 'a disabled module',
    decidedIn: ['a disabled module'],
    about: 'spelling',
    decided: 'shown',
    values: { shown: '`{enabled: false, …}`', null: 'null, as a module that is not set' },
  },
  'acl-none': {
    point: '`acl` of a credential without restrictions',
    decidedIn: ['removing an ACL'],
    about: 'spelling',
    decided: 'empty',
    values: { empty: '`[]`', star: '`["*"]`, to which the contract gives the same meaning' },
  },
  secrets: {
    point: 'secrets of an event target in an answer',
    decidedIn: ['secrets in responses'],
    about: 'spelling',
    decided: 'null',
    values: { null: 'null', masked: '`********`; of a `cloud_access_key_id`, only the first four characters' },
  },
  'retry-after': {
    point: '`Retry-After` of a 429',
    decidedIn: ['rate limit'],
    about: 'spelling',
    decided: 'seconds',
    values: { seconds: 'whole seconds', date: 'an HTTP date', none: 'no such header' },
  },
  'min-version-default': {
    point: '`min_version` where none was sent and TLS ends at the edge',
    decidedIn: [CHOSEN],
    about: 'spelling',
    decided: 'null',
    values: { null: 'null', '1.1': '`1.1`', 'tls1.2': '`tls1.2`', '1.3': '`1.3`' },
  },
  'monitor-defaults': {
    point: '`monitortags`, `service` and `monitorsite` of a target where they were not sent',
    decidedIn: [CHOSEN],
    about: 'spelling',
    decided: 'null',
    values: { null: 'null', chosen: '`source:edge`, `edge` and `us1`' },
  },
  'rule-defaults': {
    point: '`name` of a policy rule and `config` of an action where they were not sent',
    decidedIn: ['absent members inside modules'],
    about: 'spelling',
    decided: 'empty',
    values: { empty: 'null and `{}`', chosen: '`rule` and `{"log": true}`' },
  },
  'content-type': {
    point: 'headers of an HTTP response backend without `content-type`',
    decidedIn: ['labels, headers'],
    about: 'spelling',
    decided: 'as-sent',
    values: { 'as-sent': 'as they were sent', added: '`content-type: text/plain` is added' },
  },
  'rules-taken': {
    point: '`inbound`, `outbound` and `actions` in a body',
    decidedIn: ['`policy.inbound` / `outbound`, rule `actions`'],
    about: 'behaviour',
    decided: 'list',
    values: {
      list: 'lists, or a single object',
      object: 'a single object, as the contract shows; a list of none or one: 400',
    },
  },
  'module-contents': {
    point: 'what a disabled edge module refers to',
    decidedIn: ['a disabled module'],
    about: 'behaviour',
    decided: 'optional',
    values: {
      optional: 'may be left out',
      mandatory: 'must be sent, as for an enabled one: else 400',
      refused: 'must be left out, with all else in it: else 400',
    },
  },
  'deleted-policies': {
    point: 'a deleted IP policy in a list of an object that refers to it',
    decidedIn: ['an IP policy that was deleted while an edge or a restriction refers to it'],
    about: 'behaviour',
    decided: 'kept',
    values: { kept: 'may be sent again', refused: 'an id that names nothing: 400' },
  },
  'empty-members': {
    point: 'empty lists of policies of a restriction, of sources and destinations, of children of a backend',
    decidedIn: ['empty lists'],
    about: 'behaviour',
    decided: 'accepted',
    values: { accepted: 'accepted', refused: '400' },
  },
  'event-types': {
    point: 'the `<name>` of an event type',
    decidedIn: ['event types'],
    about: 'behaviour',
    decided: 'any',
    values: {
      any: 'letters, digits, `_`, `-`, `.` and `~`',
      'snake-case': 'lower-case letters, digits and `_`: else 400',
    },
  },
  'acl-targets': {
    point: 'hosts in rules of an ACL',
    decidedIn: ['rules of an ACL'],
    about: 'behaviour',
    decided: 'any',
    values: {
      any: 'names of one label or more, IPv4 and IPv6 addresses',
      names: 'names of at least two labels, and IPv4 addresses: else 400',
    },
  },
  'curve-names': {
    point: 'names of curves in `elliptic_curve`',
    decidedIn: ['defaults'],
    about: 'behaviour',
    decided: 'any',
    values: {
      any: '`P-256`, `p256`, `nistp256`, `secp256r1` and the like, in any case',
      short: '`p256`, `p384` and `p521`: else 400',
    },
  },
  'version-names': {
    point: '`min_version` as it is sent',
    decidedIn: ['`min_version`'],
    about: 'behaviour',
    decided: 'any',
    values: {
      any: '`1.2`, `tls1.2`, `TLSv1.2` and the like; answered as it was sent',
      tls: '`tls1.0` to `tls1.3`: else 400',
      number: '`1.0` to `1.3`: else 400',
    },
  },
  'enforced-default': {
    point: '`enforced` of an IP restriction where it was not sent',
    decidedIn: ['defaults'],
    about: 'behaviour',
    decided: 'off',
    values: { off: 'false', on: 'true' },
  },
  'without-allow': {
    point: 'an address that no rule matches, where the policies of a restriction have no rule that allows anything',
    decidedIn: ['how rules are evaluated'],
    about: 'behaviour',
    decided: 'refused',
    values: { refused: 'refused', admitted: 'admitted' },
  },
  'several-policies': {
    point: 'rules of a restriction, or of a module `ip_restriction`, with several policies',
    decidedIn: ['rules of a restriction with several policies'],
    about: 'behaviour',
    decided: 'together',
    values: {
      together: 'evaluated together',
      any: 'each policy by itself; one that admits suffices',
      each: 'each policy by itself; all of them have to admit',
    },
  },
  'judging-order': {
    point: 'what a connection is judged by first',
    decidedIn: ['IP restrictions of edge and account'],
    about: 'traffic',
    decided: 'account-first',
    values: {
      'account-first':
        'restrictions of the account, `ip_restriction`, `policy`, then the TLS handshake: certificate, version, client certificate',
      'edge-first': 'the same, with `ip_restriction` before the restrictions of the account',
      'handshake-first': 'the same, after the TLS handshake',
    },
  },
  'weighted-fallback': {
    point: 'a connection for which a weighted backend has drawn a child that cannot serve',
    decidedIn: ['weighted backend'],
    about: 'traffic',
    decided: 'others',
    values: { others: 'the others are drawn in the same way', none: 'is closed' },
  },
  'termination-default': {
    point: 'where TLS ends without `tls_termination`, or with a disabled one',
    decidedIn: ['a TLS edge without `tls_termination`, or with a disabled one'],
    about: 'traffic',
    decided: 'edge',
    values: {
      edge: 'at the edge',
      upstream: 'upstream, unless `mutual_tls` is enabled, which could not act otherwise',
    },
  },
  'bot-active-default': {
    point: '`active` of a bot user where it was not sent',
    decidedIn: ['defaults'],
    about: 'behaviour',
    decided: 'on',
    values: { on: 'true', off: 'false' },
  },
  'certificate-after-policy': {
    point: 'an automatic certificate once its policy is cleared',
    decidedIn: ['`certificate_id` and policy'],
    about: 'behaviour',
    decided: 'stays',
    values: { stays: 'stays in use', goes: 'is taken off the domain' },
  },
  'certificate-exclusivity': {
    point: 'where `certificate_id` and the policy of a domain exclude each other',
    decidedIn: ['`certificate_id` and policy'],
    about: 'behaviour',
    decided: 'body',
    values: {
      body: 'the body; setting one clears the other',
      object: 'the object: setting one is refused unless the other is not set, or cleared by the same body',
    },
  },
  'unique-names': {
    point: 'names that may be taken',
    decidedIn: ['unique'],
    about: 'behaviour',
    decided: 'domains',
    values: { domains: 'only domains', bots: 'also names of bot users' },
  },
  texts: {
    point: 'white space around `description`, `metadata` and the names of bots',
    decidedIn: ['white space around a description or raw metadata'],
    about: 'behaviour',
    decided: 'kept',
    values: { kept: 'kept', trimmed: 'dropped' },
  },
  'long-descriptions': {
    point: '`description` where the contract states no limit (backends)',
    decidedIn: ['lengths where the contract states none (backends)'],
    about: 'behaviour',
    decided: 'kept',
    values: { kept: 'kept whole', cut: 'cut at 255 bytes' },
  },
  ids: {
    point: 'form of ids',
    decidedIn: ['ids'],
    about: 'behaviour',
    decided: 'ksuid',
    values: {
      ksuid: 'the prefix of the document and 27 base-62 characters',
      hex: 'the same prefix and groups of hexadecimal digits',
      number: '59 decimal digits, without a prefix',
      random: 'UUIDs without a prefix, in no order; lists are in the order of the ids instead of by age',
    },
  },
} as const satisfies Readonly<Record<string, ChoiceEntry>>
