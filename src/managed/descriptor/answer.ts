import { Type } from 'typebox'
import { text } from '../../schema/define.ts'

/** In characters. A longer value of a request is cut to this length before it is compared and recorded. */
export const LONGEST_REQUEST = 255

/**
 * The status field that acknowledges a request made by an annotation: it is set to the annotation's value. `when`
 * completes "that was last …".
 */
export function answerTo(annotation: string, when: string) {
  return Type.Optional(
    text({
      description: `The value of the annotation \`${annotation}\` that was last ${when}.`,
      maxLength: LONGEST_REQUEST,
    }),
  )
}
