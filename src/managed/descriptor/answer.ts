import { Type } from 'typebox'
import { text } from '../../schema/define.ts'

/** In characters: of a longer value of a request, as much counts and is told. */
export const LONGEST_REQUEST = 255

/**
 * The status field that answers a request which users make by an annotation: it takes the annotation's value. `when`
 * finishes "that was last …".
 */
export function answerTo(annotation: string, when: string) {
  return Type.Optional(
    text({
      description: `The value of the annotation \`${annotation}\` that was last ${when}.`,
      maxLength: LONGEST_REQUEST,
    }),
  )
}
