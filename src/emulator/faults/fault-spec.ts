import { missingField, type Reader, reader } from '../fields/field.ts'
import type { JsonSchema } from '../fields/json-schema.ts'
import { anyObject, anything, boolean, integer, nonEmptyString, object, oneOf, string } from '../fields/readers.ts'
import type { Json, JsonObject } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'

/** Which requests a fault acts on. All given conditions must hold. */
export interface FaultMatch {
  readonly method?: string | undefined
  /** Glob over the path: `*` is one segment or part of one, `**` any number. */
  readonly path?: string | undefined
  /** Regular expression over the path, instead of a glob. */
  readonly pathPattern?: string | undefined
  /** The first matching request to act on, counted from 1. Default 1. */
  readonly nth?: number | undefined
  /** How many matching requests to act on, starting with `nth`. Default 1. */
  readonly times?: number | undefined
  /** Act on every matching request from `nth` on. */
  readonly every?: boolean | undefined
}

/**
 * What a fault does to a request.
 *
 * - `delay`: reads the request and processes it `ms` late, even if the caller has gone by then.
 * - `status`: answers with `status`, instead of processing the request (`before`, the default) or `after` processing
 *   it; `retryAfter` in seconds; the usual error body, or `body` / `html`.
 * - `drop`: closes the connection without reading or processing the request.
 * - `commit-then-drop`: processes the request, then closes the connection without an answer.
 * - `commit-then-late`: processes the request and answers `ms` later.
 * - `truncate`: processes the request and closes the connection halfway through the answer's body.
 * - `answer-twice`: processes the request once and sends the same answer twice on the connection.
 * - `hang`: reads the request and waits until the fault is released or deleted, `before` (default) or `after`
 *   processing. If the caller goes while its request waits `before`, the request is not processed, unless `outlives` is
 *   set.
 * - `stale-list`: answers a list as it was `seconds` ago; other requests are not affected.
 */
export type FaultAct =
  | { readonly type: 'delay'; readonly ms: number }
  | {
      readonly type: 'status'
      readonly status: number
      readonly when?: 'before' | 'after' | undefined
      readonly retryAfter?: number | undefined
      readonly body?: Json | undefined
      readonly html?: string | undefined
    }
  | { readonly type: 'drop' }
  | { readonly type: 'commit-then-drop' }
  | { readonly type: 'commit-then-late'; readonly ms: number }
  | { readonly type: 'truncate' }
  | { readonly type: 'answer-twice' }
  | {
      readonly type: 'hang'
      readonly when?: 'before' | 'after' | undefined
      readonly outlives?: boolean | undefined
    }
  | { readonly type: 'stale-list'; readonly seconds: number }

/** A fault on requests. */
export interface RequestFaultSpec {
  readonly match?: FaultMatch | undefined
  readonly act: FaultAct
}

/** A fault on certificate provisioning: the next `times` (default 1) attempts for `domain` (default any) fail. */
export interface CertificateFaultSpec {
  readonly type: 'certificate'
  readonly domain?: string | undefined
  readonly errorCode?: 'INTERNAL_ERROR' | 'DNS_ERROR' | undefined
  readonly times?: number | undefined
}

export type FaultSpec = RequestFaultSpec | CertificateFaultSpec

const milliseconds = { read: integer(0, 24 * 3600 * 1000) }
const count = integer(1, Number.MAX_SAFE_INTEGER)
const none: Json = null

const ACT_FORMS: Record<FaultAct['type'], Reader<JsonObject>> = {
  delay: object({ type: { read: oneOf('delay') }, ms: milliseconds }),
  status: object({
    type: { read: oneOf('status') },
    status: { read: integer(100, 599) },
    when: { read: oneOf('before', 'after'), absent: none },
    retryAfter: { read: integer(0, 86_400), absent: none },
    body: { read: anything, absent: none },
    html: { read: string, absent: none },
  }),
  drop: object({ type: { read: oneOf('drop') } }),
  'commit-then-drop': object({ type: { read: oneOf('commit-then-drop') } }),
  'commit-then-late': object({ type: { read: oneOf('commit-then-late') }, ms: milliseconds }),
  truncate: object({ type: { read: oneOf('truncate') } }),
  'answer-twice': object({ type: { read: oneOf('answer-twice') } }),
  hang: object({
    type: { read: oneOf('hang') },
    when: { read: oneOf('before', 'after'), absent: none },
    outlives: { read: boolean, absent: none },
  }),
  'stale-list': object({ type: { read: oneOf('stale-list') }, seconds: { read: integer(0, 365 * 86_400) } }),
}

const matchForm = object({
  method: { read: nonEmptyString, absent: none },
  path: { read: nonEmptyString, absent: none },
  pathPattern: { read: nonEmptyString, absent: none },
  nth: { read: count, absent: none },
  times: { read: count, absent: none },
  every: { read: boolean, absent: none },
})

const certificateForm = object({
  type: { read: oneOf('certificate') },
  domain: { read: nonEmptyString, absent: none },
  errorCode: { read: oneOf('INTERNAL_ERROR', 'DNS_ERROR'), absent: none },
  times: { read: count, absent: none },
})
/** The type, once known, decides which of the forms the act must have. */
const anyAct = reader({ anyOf: Object.values(ACT_FORMS).map(({ schema }) => schema) }, anything)
const requestForm = object({ match: { read: matchForm, absent: none }, act: { read: anyAct } })

/** The schema of what `readFaultSpec` accepts. */
export const FAULT_SCHEMA: JsonSchema = { anyOf: [requestForm.schema, certificateForm.schema] }

/** Reads a fault sent to the admin surface. */
export function readFaultSpec(body: JsonObject): FaultSpec {
  if (body.type === 'certificate') return certificateSpec(certificateForm(body, 'fault'))
  const fault = requestForm(body, 'fault')
  const match = fault.match === null ? undefined : matchSpec(anyObject(fault.match ?? null, 'match'))
  return { match, act: actSpec(anyObject(fault.act ?? null, 'act')) }
}

function certificateSpec(fault: JsonObject): CertificateFaultSpec {
  return {
    type: 'certificate',
    domain: optionalText(fault.domain),
    errorCode: fault.errorCode === 'DNS_ERROR' ? 'DNS_ERROR' : 'INTERNAL_ERROR',
    times: optionalNumber(fault.times),
  }
}

function matchSpec(match: JsonObject): FaultMatch {
  const pathPattern = optionalText(match.pathPattern)
  if (pathPattern !== undefined && !isPattern(pathPattern))
    throw invalid('match.pathPattern', 'is not a regular expression')
  return {
    method: optionalText(match.method),
    path: optionalText(match.path),
    pathPattern,
    nth: optionalNumber(match.nth),
    times: optionalNumber(match.times),
    every: match.every === true,
  }
}

function actSpec(given: JsonObject): FaultAct {
  if (given.type === undefined) throw missingField('act.type')
  const type = oneOf(
    'delay',
    'status',
    'drop',
    'commit-then-drop',
    'commit-then-late',
    'truncate',
    'answer-twice',
    'hang',
    'stale-list',
  )(given.type, 'act.type')
  const act = ACT_FORMS[type](given, 'act')
  switch (type) {
    case 'delay':
    case 'commit-then-late':
      return { type, ms: Number(act.ms) }
    case 'status':
      return {
        type,
        status: Number(act.status),
        when: act.when === 'after' ? 'after' : 'before',
        retryAfter: optionalNumber(act.retryAfter),
        body: act.body ?? undefined,
        html: optionalText(act.html),
      }
    case 'hang':
      return { type, when: act.when === 'after' ? 'after' : 'before', outlives: act.outlives === true }
    case 'stale-list':
      return { type, seconds: Number(act.seconds) }
    case 'drop':
    case 'commit-then-drop':
    case 'truncate':
    case 'answer-twice':
      return { type }
  }
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text).source !== ''
  } catch {
    return false
  }
}

function optionalText(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function optionalNumber(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
