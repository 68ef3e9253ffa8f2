import { text } from '../../schema/define.ts'

/** Characters of `prefix/name` (Kubernetes, Labels and Selectors). */
export const LABEL_KEY_LENGTH = 317

/** The value of a label, as the API server accepts it. */
export const labelText = text({
  description: 'Value of the label.',
  maxLength: 63,
  mustBe: 'empty or a label value of letters, digits, -, _ and . that begins and ends with a letter or digit',
  pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
})
