import { Type } from 'typebox'
import { text } from '../../schema/define.ts'

/** What the apiserver accepts as the name of most objects, in at most 253 characters: a DNS subdomain (RFC 1123). */
export const OBJECT_NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'

/** The name of a namespace. */
export function namespaceName(description: string) {
  return text({
    description,
    minLength: 1,
    maxLength: 63,
    mustBe: 'the name of a namespace: lower-case letters, digits and -, beginning and ending with a letter or digit',
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  })
}

/** Characters of `prefix/name` (Kubernetes, Labels and Selectors). */
export const LABEL_KEY_LENGTH = 317

/** The value of a label, as the API server accepts it. */
export const labelText = text({
  description: 'Value of the label.',
  maxLength: 63,
  mustBe: 'empty or a label value of letters, digits, -, _ and . that begins and ends with a letter or digit',
  pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
})

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
