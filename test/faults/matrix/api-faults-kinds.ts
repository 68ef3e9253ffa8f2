import type { Fault, WireAnswer } from '../simulation/faults.ts'
import { times } from '../simulation/operator.ts'

/** A fault and its name in the matrix. */
export interface NamedFault {
  readonly point: 'before' | 'after' | 'both'
  readonly name: string
  readonly fault: Fault
}

/** Adds the fault's name in the matrix. */
export const named = (point: NamedFault['point'], name: string, fault: Fault): NamedFault => ({ point, name, fault })

/** As the API words its errors (`api-decisions.md § Errors`). */
export function refusal(status: number, code: string, msg: string, more: WireAnswer['headers'] = {}): WireAnswer {
  const body = { error_code: code, status_code: status, msg, details: { operation_id: 'op_fault' } }
  return { status, headers: { 'content-type': 'application/json', ...more }, body: JSON.stringify(body) }
}

const limited = (headers: WireAnswer['headers'] = {}): Fault => ({
  type: 'answer',
  when: 'before',
  answer: refusal(429, 'ERR_2004', 'too many requests', headers),
})
const broken = refusal(500, 'ERR_9001', 'something went wrong')
const gateway: WireAnswer = {
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>',
}

/** Seconds that `Retry-After` asks for: a short time, and longer than the account's `resyncInterval`. */
export const LONG_HOLD = 100

export const tooMany: readonly NamedFault[] = [
  named('before', '429', limited()),
  named('before', '429 with Retry-After: 1', limited({ 'retry-after': '1' })),
  named('before', `429 with Retry-After: ${LONG_HOLD}`, limited({ 'retry-after': String(LONG_HOLD) })),
]

const unrouted = (what: string, type: string, body: string): NamedFault => {
  const answer = { status: 404, headers: { 'content-type': type }, body }
  return named('before', `404 ${what}`, { type: 'answer', when: 'before', answer })
}

/** Answers of an intermediary that knows nothing of the API: they say nothing about an object. */
const unroutes: readonly NamedFault[] = [
  unrouted('with HTML', 'text/html', '<html><body><h1>404 Not Found</h1></body></html>'),
  unrouted('without a body', 'text/plain', ''),
  unrouted('in JSON of a gateway', 'application/json', '{"message":"no Route matched with those values"}'),
]

/** Faults that leave the outcome at the server unknown. */
export const lost: readonly NamedFault[] = [
  named('before', '500', { type: 'answer', when: 'before', answer: broken }),
  named('after', '500', { type: 'answer', when: 'after', answer: broken }),
  named('before', '502 with HTML', { type: 'answer', when: 'before', answer: gateway }),
  ...unroutes,
  named('before', 'no answer', { type: 'silence', when: 'before' }),
  named('after', 'no answer', { type: 'silence', when: 'after' }),
  named('before', 'reset', { type: 'reset', when: 'before' }),
  named('after', 'reset', { type: 'reset', when: 'after' }),
  named('after', 'answer cut off', { type: 'cut' }),
  named('after', 'reset, done half a second late', { type: 'late', ms: 500 }),
  named('after', 'reset, done just before the time-out', { type: 'late', ms: times.requestTimeoutMs - 100 }),
]

export const doubled: readonly NamedFault[] = [
  named('both', 'sent twice, the first answer comes', { type: 'twice', gives: 'first' }),
  named('both', 'sent twice, the last answer comes', { type: 'twice', gives: 'last' }),
]

/** If one answer is sent twice, the next request gets the second copy. */
const crossed = named('after', 'answered as the request before it was', { type: 'crossed' })

/** A fault of a later page of a list. */
export const lostCursor: NamedFault = named('before', 'the cursor is lost', {
  type: 'answer',
  when: 'before',
  answer: refusal(400, 'ERR_1006', 'before_id: nothing in the collection has this id'),
})

/** Faults of a write. */
export const writeFaults: readonly NamedFault[] = [...tooMany, ...lost, ...doubled, crossed]

/** Faults of a read, for which before and after are the same. */
export const readFaults: readonly NamedFault[] = lost.filter(({ point, fault }) => {
  return fault.type === 'cut' || (point === 'before' && fault.type !== 'late')
})
