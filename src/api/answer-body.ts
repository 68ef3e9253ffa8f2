/**
 * Deeper than anything the contract describes, and shallow enough for every function that walks an answer recursively.
 */
const MAX_DEPTH = 100
/** Values are limited apart from bytes: `[],` is three bytes, but an object of forty bytes in memory. */
const MAX_VALUES = 500_000
/** Longer than any message that is shown, in UTF-16 code units. */
const MAX_TEXT = 4096

/** The body of an answer, read as far as it can be. */
export interface AnswerBody {
  /** The parsed body; undefined when it is empty or not usable. */
  readonly value: unknown
  /** The beginning of a body that is text and not JSON. */
  readonly text?: string
  /** Why the body is not usable, as the end of a sentence: `not JSON`. */
  readonly problem: string | undefined
  /** Size of the body in bytes. */
  readonly bytes: number
  /** JSON values in it; may be too high, never too low. */
  readonly values: number
}

/** Ignores a byte order mark, as RFC 8259 § 8.1 allows; refuses bytes that are not UTF-8 instead of replacing them. */
export function readBody(bytes: Buffer): AnswerBody {
  const size = bytes.length
  const bad = (problem: string, values = 0): AnswerBody => ({
    value: undefined,
    problem,
    bytes: size,
    values,
  })
  const text = decode(bytes)
  if (text === undefined) return bad('not UTF-8')
  if (text.trim() === '') return { value: undefined, problem: undefined, bytes: size, values: 0 }
  const { depth, values } = measure(text)
  if (depth > MAX_DEPTH) return bad(`nested deeper than ${MAX_DEPTH} levels`, values)
  if (values > MAX_VALUES) return bad(`of more than ${MAX_VALUES} values`, values)
  try {
    return { value: JSON.parse(text), problem: undefined, bytes: size, values }
  } catch {
    return { ...bad('not JSON', values), text: text.slice(0, MAX_TEXT) }
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Depth and number of values of a JSON text, measured before parsing it takes memory. Good enough for text that is not
 * JSON.
 */
function measure(text: string): { readonly depth: number; readonly values: number } {
  let depth = 0
  let deepest = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case BRACKET:
      case BRACE:
        deepest = Math.max(deepest, ++depth)
        values++
        break
      case BRACKET_END:
      case BRACE_END:
        depth--
        break
      case COMMA:
        values++
        break
      default:
    }
  }
  return { depth: deepest, values }
}

/** Where the string that begins at `start` ends; the end of the text if it is not closed. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return text.length
}

const [QUOTE, COMMA, BACKSLASH, BRACKET, BRACKET_END, BRACE, BRACE_END] = [0x22, 0x2c, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]
