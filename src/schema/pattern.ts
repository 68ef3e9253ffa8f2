/**
 * A pattern that the apiserver (RE2) and the validator (JavaScript) would read differently, or that one of them
 * refuses.
 */
export class PatternError extends Error {
  readonly code = 'PATTERN_NOT_PORTABLE'
  readonly pattern: string

  constructor(pattern: string, problem: string, options?: ErrorOptions) {
    super(`pattern ${JSON.stringify(pattern)}: ${problem}`, options)
    this.name = 'PatternError'
    this.pattern = pattern
  }
}

/** RE2 refuses larger counts. */
const maxRepeat = 1000

/** Escapes with the same meaning in both engines, outside and inside a class. */
const portableEscapes = /^\\(?:[dDwWfnrtv]|x[0-9a-fA-F]{2}|[\^$\\.*+?()[\]{}|/])/
const portableClassEscapes = /^\\(?:[dDwWfnrtv]|x[0-9a-fA-F]{2}|[\^$\\.*+?()[\]{}|/-])/

/**
 * Throws unless `pattern` is in the common subset of JavaScript's (flag `u`, as ajv compiles it) and RE2's regular
 * expressions: no look-around, back-references, named groups or inline flags, no `.`, `\s` or `\p` (their sets differ),
 * no empty class, no repetition above 1000.
 *
 * @throws PatternError
 */
export function assertPortablePattern(pattern: string): void {
  try {
    new RegExp(pattern, 'u')
  } catch (cause) {
    throw new PatternError(pattern, 'is not a regular expression in JavaScript with flag u', { cause })
  }
  let at = 0
  while (at < pattern.length) {
    at += pattern[at] === '[' ? classLength(pattern, at) : tokenLength(pattern, at)
  }
}

/** Length of the token at `at`, outside a class. */
function tokenLength(pattern: string, at: number): number {
  const rest = pattern.slice(at)
  switch (rest[0]) {
    case '\\':
      return escapeLength(pattern, rest, portableEscapes, /^\\[bB]/)
    case '.':
      throw new PatternError(pattern, 'a bare "." matches other line ends in RE2 than in JavaScript: write [^\\n]')
    case '(':
      if (rest[1] === '?' && rest[2] !== ':') {
        throw new PatternError(pattern, `"${rest.slice(0, 3)}" opens a group that is not plain: use ( or (?:`)
      }
      return rest[1] === '?' ? 3 : 1
    case '{':
      return repeatLength(pattern, rest)
    default:
      return 1
  }
}

function repeatLength(pattern: string, rest: string): number {
  const repeat = rest.slice(0, rest.indexOf('}') + 1)
  const counts = repeat.match(/\d+/g) ?? []
  if (counts.some((count) => Number(count) > maxRepeat)) {
    throw new PatternError(pattern, `"${repeat}" repeats more than ${maxRepeat} times: bound the length with maxLength`)
  }
  return repeat.length
}

/** Length of the character class at `at`, brackets included. */
function classLength(pattern: string, at: number): number {
  const start = pattern[at + 1] === '^' ? at + 2 : at + 1
  if (pattern[start] === ']') {
    throw new PatternError(pattern, 'an empty class means "nothing" or "anything" in JavaScript and is an error in RE2')
  }
  let end = start
  while (pattern[end] !== ']') {
    const rest = pattern.slice(end)
    if (rest.startsWith('[:')) {
      throw new PatternError(pattern, '"[:" opens a named class in RE2 only')
    }
    end += rest.startsWith('\\') ? escapeLength(pattern, rest, portableClassEscapes) : 1
  }
  return end + 1 - at
}

function escapeLength(pattern: string, rest: string, ...allowed: readonly RegExp[]): number {
  for (const escapes of allowed) {
    const found = escapes.exec(rest)
    if (found) {
      return found[0].length
    }
  }
  throw new PatternError(
    pattern,
    `the escape "${rest.slice(0, 2)}" differs between JavaScript and RE2, or is a back-reference`,
  )
}

/** Whether any text that matches has only ASCII characters; false where that is not obvious. */
export function isASCII(pattern: string): boolean {
  if (!pattern.startsWith('^') || /[^\x20-\x7e]|\[\^|\\[DW]|\\x[89a-fA-F]/.test(pattern)) return false
  let depth = 0
  let last = ''
  for (let at = 0; at < pattern.length; at += last.length) {
    last = pattern.slice(at, at + (pattern[at] === '[' ? classLength(pattern, at) : tokenLength(pattern, at)))
    if (last.startsWith('(')) depth += 1
    if (last === ')') depth -= 1
    // Each alternative would have to be anchored.
    if (last === '|' && depth === 0) return false
  }
  return last === '$'
}
