import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { Rotation } from '../../managed/descriptor/descriptor.ts'
import { durationText, shorterThan } from '../../managed/descriptor/duration.ts'
import type { OneTimeOutput } from '../../managed/descriptor/output.ts'
import type { Readiness, ReadinessView } from '../../managed/descriptor/readiness.ts'
import { object } from '../../schema/define.ts'
import { durationMs } from '../../util/time.ts'
import { available } from '../building-blocks/plain-kind.ts'
import { templateOf, tokenPlace, type WithOutput } from './output-place.ts'

const KEY = 'token'
const LONGEST_DEFAULT_OVERLAP_MS = 3_600_000

const rotation = object(
  {
    interval: durationText({
      field: 'interval',
      description: 'Age at which the token is replaced, such as `24h`, `720h` or `2160h`; from 1s to 87600h.',
      least: '1s',
      most: '87600h',
      examples: '24h, 720h or 2160h',
    }),
    overlap: Type.Optional(
      durationText({
        field: 'overlap',
        description:
          'How long the old token keeps working beside the new one, such as `0s`, `5m` or `24h`; from 0s to 87600h, and less than interval. Shortening it takes effect at once. Default: 1h, or a tenth of interval if that is less.',
        least: '0s',
        most: '87600h',
        examples: '0s, 5m or 24h',
      }),
    ),
  },
  {
    description:
      'Issues a new token when the one in the Secret reaches a certain age, and deletes the old one after the overlap, but not while an Account uses it. A new value of the annotation `culvert.dev/rotate-requested-at` requests a new token at any time, even without this field; it is the only way for an adopted object, whose age is unknown. Default: no rotation.',
    // Atomic to server-side apply, like other small objects.
    atomic: true,
    rules: [shorterThan('overlap', 'interval')],
  },
)

/** Spec fields of every kind with a token. */
export const tokenFields = {
  output: tokenPlace(KEY),
  rotation: Type.Optional(rotation),
}

interface WithToken extends WithOutput {
  readonly rotation?: { readonly interval: string; readonly overlap?: string }
}

/**
 * Consumers take a token as one word: a header, an environment variable, a line of a file. The longest keys have a few
 * hundred characters.
 */
const TOKEN = /^[\x21-\x7e]{1,4096}$/

const output = {
  type: 'one-time',
  field: 'token',
  problem: ({ token }: RemoteObject): string | undefined => {
    if (typeof token === 'string' && TOKEN.test(token)) return undefined
    return token === undefined || token === null || token === ''
      ? 'no token, which is told only once'
      : 'a token that is not 1 to 4096 visible ASCII characters without blanks'
  },
  target: ({ output: { secret } = {} }: WithToken, name: string) => ({
    name: secret?.name ?? name,
    key: secret?.key ?? KEY,
  }),
  template: templateOf,
} as const

/** A token that agents connect with. */
export const tokenOutput: OneTimeOutput<WithToken> = { ...output, opensAccounts: false }

/** A token for calls to the API itself. */
export const keyOutput: OneTimeOutput<WithToken> = { ...output, opensAccounts: true }

/** The age of a token counts from its issue. Without an interval, a new one is issued only on request. */
export const tokenRotation: Rotation<WithToken> = {
  type: 'rotation',
  dueAt: ({ spec, since }) => {
    return spec.rotation === undefined || since === undefined ? undefined : since + durationMs(spec.rotation.interval)
  },
  overlapMs: ({ rotation: { interval, overlap } = {} }) => {
    if (overlap !== undefined) return durationMs(overlap)
    const tenth = interval === undefined ? LONGEST_DEFAULT_OVERLAP_MS : durationMs(interval) / 10
    return Math.min(LONGEST_DEFAULT_OVERLAP_MS, tenth)
  },
}

/** Ready, with a message about the token: that of an adopted or observed object is not known here. */
export function tokenReadiness(inPlace: string, { status }: Pick<ReadinessView<unknown>, 'status'>): Readiness {
  if (status?.output !== undefined) return available(inPlace)
  return available(
    'it is in place, and its token is not known here, only to whoever created it: for a new one in a Secret, set the annotation culvert.dev/rotate-requested-at, with managementPolicy: Manage',
  )
}

/** The condition that such kinds show, for their pages. */
export const tokenConditions = [
  {
    type: 'Rotated',
    description:
      'A new token will be issued at `status.nextRotationAt`. False with RotationFailing when that fails: the token in the Secret keeps working. Unknown with RotationWaiting while a requested token waits for the overlap of the previous one to end. Absent while no rotation is planned.',
  },
] as const
