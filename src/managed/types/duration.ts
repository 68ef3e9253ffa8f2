import { text } from '../../schema/define.ts'
import type { Rule } from '../../schema/rules.ts'

/** Hours, minutes and seconds in this order, each at most once. `durationMs` reads it, and CEL does. */
const DURATION = '^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,6}s)?$'

export interface DurationOptions {
  /** Name of the field, for messages. */
  readonly field: string
  readonly description: string
  readonly least: string
  readonly most: string
  /** What the message shows as the right form: `30s, 10m or 1h30m`. */
  readonly examples: string
  readonly default?: string
}

/** A length of time in a spec. */
export function durationText({ field, description, least, most, examples, default: absent }: DurationOptions) {
  return text({
    description,
    maxLength: 16,
    minLength: 2,
    pattern: DURATION,
    ...(absent === undefined ? {} : { default: absent }),
    rules: [
      {
        rule: `!self.matches('${DURATION}') || (duration(self) >= duration('${least}') && duration(self) <= duration('${most}'))`,
        message: `${field} must be from ${least} to ${most}: write it as ${examples}`,
      },
    ],
  })
}

/**
 * Rule of the parent object: the duration `field` is less than the duration `other`.
 *
 * @param absent what `other` is where the spec leaves it out. Default: it is required.
 */
export function shorterThan(field: string, other: string, absent?: string): Rule {
  const set = absent === undefined ? `self.${other}` : `(has(self.${other}) ? self.${other} : '${absent}')`
  const wrong = [`self.${field}`, set].map((value) => `!${value}.matches('${DURATION}')`).join(' || ')
  const standard = absent === undefined ? '' : ` (${absent} where it is not set)`
  return {
    rule: `!has(self.${field}) || ${wrong} || duration(self.${field}) < duration(${set})`,
    message: `${field} has to be less than ${other}${standard}: shorten it`,
    fieldPath: `.${field}`,
  }
}
