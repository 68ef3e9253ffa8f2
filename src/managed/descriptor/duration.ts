import { text } from '../../schema/define.ts'
import type { Rule } from '../../schema/rules.ts'

/** Hours, minutes and seconds in this order, each at most once. Both `durationMs` and CEL parse it. */
const DURATION = '^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,6}s)?$'

export interface DurationOptions {
  /** Name of the field, for messages. */
  readonly field: string
  readonly description: string
  readonly least: string
  readonly most: string
  /** Examples of the right form, for the message: `30s, 10m or 1h30m`. */
  readonly examples: string
  readonly default?: string
}

/** A duration in a spec. */
export function durationText({ field, description, least, most, examples, default: absent }: DurationOptions) {
  return text({
    description,
    maxLength: 16,
    minLength: 2,
    pattern: DURATION,
    mustBe: `a duration: write it as ${examples}`,
    ...(absent === undefined ? {} : { default: absent }),
    rules: [
      {
        rule: `!self.matches('${DURATION}') || (duration(self) >= duration('${least}') && duration(self) <= duration('${most}'))`,
        message: `${field} must be from ${least} to ${most}: write it as ${examples}`,
      },
    ],
  })
}

/** Rule of the parent object: the duration `field` is less than the duration `other`, which is required. */
export function shorterThan(field: string, other: string): Rule {
  return {
    rule: `!has(self.${field}) || ${malformed(`self.${field}`, `self.${other}`)} || duration(self.${field}) < duration(self.${other})`,
    message: `${field} must be less than ${other}: shorten it`,
    fieldPath: `.${field}`,
  }
}

/**
 * Rule of the parent object: the duration `field` is at most nine tenths of the duration `other`. Otherwise, something
 * repeated after the remaining tenth would be repeated all the time.
 *
 * @param absent the value of `other` if the spec leaves it out
 */
export function nineTenthsAtMost(field: string, other: string, absent: string): Rule {
  const whole = `(has(self.${other}) ? self.${other} : '${absent}')`
  const seconds = (text: string): string => `duration(${text}).getSeconds()`
  return {
    rule: `!has(self.${field}) || ${malformed(`self.${field}`, whole)} || ${seconds(`self.${field}`)} * 10 <= ${seconds(whole)} * 9`,
    message: `${field} must be at most nine tenths of ${other} (${absent} if that is not set): shorten it`,
    fieldPath: `.${field}`,
  }
}

/** Whether the pattern of one of these already refuses it. */
function malformed(...texts: readonly string[]): string {
  return texts.map((text) => `!${text}.matches('${DURATION}')`).join(' || ')
}
