import { createHash } from 'node:crypto'

/** Maximum length of a label value in Kubernetes. */
const LONGEST = 63
const DIGEST = 8

/**
 * `text` as a label value: at most 63 characters of letters, digits, `-`, `_` and `.`, with a letter or digit at either
 * end. A valid value is unchanged. Otherwise each run of other characters becomes a `-`, and a long value is cut and
 * ends in a digest, so that two long values with the same beginning stay distinct. Undefined if nothing is left.
 */
export function labelValue(text: string | undefined): string | undefined {
  const plain = trimmed((text ?? '').replaceAll(/[^A-Za-z0-9._-]+/g, '-'))
  if (plain === '') return undefined
  if (plain.length <= LONGEST) return plain
  const digest = createHash('sha256').update(plain).digest('hex').slice(0, DIGEST)
  return `${trimmed(plain.slice(0, LONGEST - DIGEST - 1))}-${digest}`
}

function trimmed(text: string): string {
  return text.replace(/^[^A-Za-z0-9]+/, '').replace(/[^A-Za-z0-9]+$/, '')
}
