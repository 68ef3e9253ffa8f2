import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { Rotation } from '../../managed/descriptor/descriptor.ts'
import { durationText, nineTenthsAtMost } from '../../managed/descriptor/duration.ts'
import { pollIn, type Readiness } from '../../managed/descriptor/readiness.ts'
import { reasons } from '../../managed/descriptor/reasons.ts'
import { text, timestamp } from '../../schema/define.ts'
import { atMostOne, type Rule } from '../../schema/rules.ts'
import { isNotedAhead } from '../../util/noted-time.ts'
import { durationMs, secondsTime } from '../../util/time.ts'
import { available } from '../building-blocks/plain-kind.ts'
import { given, timeOf } from '../building-blocks/remote.ts'

/** RFC 3339, which permits `t` and `z`. */
const TIME =
  '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$'

/** A text as a time, for rules: CEL does not read it in lower case, not even in the format date-time. */
const asTime = (time: string) => `timestamp(${time}.upperAscii())`
/** Whether the pattern refuses it already. */
const malformed = (time: string) => `!${time}.matches('${TIME}')`

function time(field: string, description: string) {
  return text({
    description: `${description} A change issues a new certificate.`,
    maxLength: 64,
    pattern: TIME,
    mustBe: 'an RFC 3339 time, such as 2026-12-31T23:59:59Z',
    rules: [
      {
        rule: `${malformed('self')} || ${asTime('self')} >= timestamp('1970-01-01T00:00:00Z')`,
        message: `${field} is before 1970, the earliest time that a certificate can name: write a later one`,
      },
    ],
  })
}

/**
 * When a certificate is valid (`management-api.md § SSH certificates`). `defaultLength` is the contract's default, in
 * words and as a duration.
 */
export function validityFields(defaultLength: string) {
  return {
    validAfter: Type.Optional(
      time(
        'validAfter',
        'When the certificate becomes valid. If set, the certificate is not renewed. Default: when it is issued.',
      ),
    ),
    validUntil: Type.Optional(
      time(
        'validUntil',
        'When the certificate expires. If set, the certificate is not renewed. Default: validFor after its start.',
      ),
    ),
    validFor: Type.Optional(
      durationText({
        field: 'validFor',
        description: `How long the certificate is valid from its start, such as \`90m\`, \`12h\` or \`8760h\`; from 1s to 87600h. Not together with validUntil. A change issues a new certificate. Default: ${defaultLength}, unless validUntil is set.`,
        least: '1s',
        most: '87600h',
        examples: '90m, 12h or 8760h',
      }),
    ),
    renewBefore: Type.Optional(
      durationText({
        field: 'renewBefore',
        description:
          'How long before it expires a new certificate is issued, such as `10m`, `8h` or `720h`; from 1s to 87600h, and at most nine tenths of validFor. Not together with validAfter or validUntil, since the certificate is then not renewed. Default: a third of its validity period.',
        least: '1s',
        most: '87600h',
        examples: '10m, 8h or 720h',
      }),
    ),
  }
}

/** `defaultLength` as a duration. */
export function validityRules(defaultLength: string): readonly Rule[] {
  return [...windowRules, nineTenthsAtMost('renewBefore', 'validFor', defaultLength)]
}

const windowRules: readonly Rule[] = [
  atMostOne(['validUntil', 'validFor']),
  {
    rule: '!has(self.renewBefore) || !(has(self.validAfter) || has(self.validUntil))',
    message:
      'renewBefore cannot be set together with validAfter or validUntil, with which a certificate is not renewed: remove it, or the others',
    fieldPath: '.renewBefore',
  },
  {
    rule: `!has(self.validAfter) || !has(self.validUntil) || ${malformed('self.validAfter')} || ${malformed('self.validUntil')} || ${asTime('self.validUntil')} > ${asTime('self.validAfter')}`,
    message: 'validUntil must be after validAfter: correct one of them',
    fieldPath: '.validUntil',
  },
]

export const validityReplacing = ['validAfter', 'validUntil', 'validFor'] as const

export const validityStatus = {
  validAfter: Type.Optional(timestamp({ description: 'When the certificate became or becomes valid.' })),
  validUntil: Type.Optional(timestamp({ description: 'When the certificate expires.' })),
  renewsAt: Type.Optional(
    timestamp({ description: 'When the next certificate will be issued; absent if none will be.' }),
  ),
}

interface WithValidity {
  readonly validAfter?: string
  readonly validUntil?: string
  readonly validFor?: string
  readonly renewBefore?: string
}

export interface Validity {
  readonly valid_after: string | undefined
  readonly valid_until: string | undefined
}

/**
 * Both times to send. A new certificate is sent both, so that its length does not depend on two clocks agreeing. For an
 * existing one, a start that the spec leaves open is left alone once it has come, and the length is measured from its
 * actual start.
 */
export function wantedValidity(
  { validAfter, validUntil, validFor }: WithValidity,
  { now, remote, defaultLength }: { now: number; remote: RemoteObject | undefined; defaultLength: string },
): Validity {
  const until = millis(validUntil)
  const length = durationMs(validFor ?? defaultLength)
  const asked = millis(validAfter)
  if (remote === undefined) {
    // An end that has passed is sent with a start that does not move, so that the API refuses it with the same message
    // each time.
    const start = asked ?? (until === undefined ? now : Math.min(now, until))
    return { valid_after: secondsTime(start), valid_until: secondsTime(until ?? wholeSeconds(start) + length) }
  }
  const found = millis(timeOf(remote.valid_after))
  const late = asked === undefined && found !== undefined && isNotedAhead(found, now)
  const start = asked ?? (late ? now : undefined)
  return {
    valid_after: start === undefined ? undefined : secondsTime(start),
    valid_until: endFrom(until, found, length),
  }
}

function endFrom(until: number | undefined, found: number | undefined, length: number): string | undefined {
  if (until !== undefined) return secondsTime(until)
  return found === undefined ? undefined : secondsTime(found + length)
}

/** The times of an object, in the form in which they are sent. */
export function observedValidity(remote: RemoteObject): Validity {
  const [after, until] = [millis(timeOf(remote.valid_after)), millis(timeOf(remote.valid_until))]
  return {
    valid_after: after === undefined ? undefined : secondsTime(after),
    valid_until: until === undefined ? undefined : secondsTime(until),
  }
}

export function validityOf(remote: RemoteObject) {
  return given({ validAfter: timeOf(remote.valid_after), validUntil: timeOf(remote.valid_until) })
}

/** Whether the certificate has expired, so that nothing accepts it any more. */
export function isExpired(remote: RemoteObject, now: number): boolean {
  return (millis(timeOf(remote.valid_until)) ?? Number.POSITIVE_INFINITY) <= now
}

/** Ready while the certificate is valid; polls again when that changes. */
export function validityReadiness({
  spec,
  remote,
  now,
}: {
  readonly spec: WithValidity
  readonly remote: RemoteObject
  readonly now: number
}): Readiness {
  const after = millis(timeOf(remote.valid_after)) ?? Number.NEGATIVE_INFINITY
  const until = millis(timeOf(remote.valid_until)) ?? Number.POSITIVE_INFINITY
  if (isExpired(remote, now)) {
    const expired = 'the certificate has expired and is accepted nowhere'
    if (isRenewed(spec)) {
      return { ready: false, reason: reasons.Expired, message: `${expired}: a new one takes its place` }
    }
    const remedy = spec.validUntil === undefined ? 'set a later validAfter or none' : 'set a later validUntil'
    const message = `${expired}: ${remedy}, which issues a new one`
    return { ready: false, reason: reasons.Expired, message, stalled: true }
  }
  if (after > now) {
    const message = 'the certificate is not valid yet: it will be when the time in status.validAfter has come'
    return { ready: false, reason: reasons.NotYetValid, message, pollMs: pollIn(after - now) }
  }
  const ready = available('the certificate is valid')
  return Number.isFinite(until) ? { ...ready, pollMs: pollIn(until - now) } : ready
}

/** With a start or an end from the spec, reissuing a certificate would not extend it. */
function isRenewed({ validAfter, validUntil }: WithValidity): boolean {
  return validAfter === undefined && validUntil === undefined
}

/**
 * Renewed well before its end, without overlap: the previous certificate is valid until it expires, whether or not it
 * still exists at the API.
 */
export const certificateRenewal: Rotation<WithValidity> = {
  type: 'renewal',
  dueAt: ({ spec, remote }) => {
    const [after, until] = [millis(timeOf(remote?.valid_after)), millis(timeOf(remote?.valid_until))]
    if (!isRenewed(spec) || after === undefined || until === undefined) return undefined
    return until - (spec.renewBefore === undefined ? (until - after) / 3 : durationMs(spec.renewBefore))
  },
  overlapMs: () => 0,
  fresh: ['valid_after', 'valid_until'],
}

function millis(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text.toUpperCase())
}

/** Certificates have a resolution of one second. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}
