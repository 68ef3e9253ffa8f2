import { text } from '../../schema/define.ts'

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
