/** Text that would drive a terminal, forge lines and turn the reading order, wherever it got raw. */
export const HOSTILE =
  '\u001b[2J\u001b]0;owned\u0007\u009b31m\u0090q\u009c\u0000\u007f\r\n# planted\t\u2028\u2029\u061c\u200e\u200f\u202e\u2066\u{e0041}`|<b>@team'

/** A part of `HOSTILE` as it has to be shown. */
export const SHOWN = '\\u001b[2J'

/** Colours and weights of ours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how a terminal receives them
const STYLES = /\u001b\[(?:1|2|22|31|32|33|39)m/g
/** Whatever is not one visible character, but a line end. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

/** The first unprintable character that is no colour of ours, with what is around it; undefined if there is none. */
export function unprintableIn(output: string, { coloured }: { readonly coloured: boolean }): string | undefined {
  const text = coloured ? output.replaceAll(STYLES, '') : output
  const at = text.search(UNPRINTABLE)
  return at < 0 ? undefined : JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))
}

/** Whether a value is to be kept as it is, by the names of the members that lead to it. */
export type Keep = (path: readonly string[]) => boolean

/** A value with hostile text at the end of each string in it, and of each key of a map of users. */
export function poisoned(value: unknown, keep: Keep, path: readonly string[] = []): unknown {
  if (typeof value === 'string') return keep(path) ? value : `${value}${HOSTILE}`
  if (Array.isArray(value)) return value.map((each) => poisoned(each, keep, path))
  if (typeof value !== 'object' || value === null) return value
  const [parent, name = ''] = path.slice(-2)
  const isMap = (MAPS.has(name) || (parent === 'spec' && name === 'metadata')) && !keep(path)
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      return [isMap ? `${key}${HOSTILE}` : key, poisoned(each, keep, [...path, key])]
    }),
  )
}

/** Maps whose keys are of users. */
const MAPS: ReadonlySet<string> = new Set(['labels', 'annotations', 'backends'])
