import { escaped, escapedBy } from '../printable.ts'

/** Longest key that needs no `?`, as it is written: YAML allows 1,024 characters. */
const LONGEST_SIMPLE_KEY = 1000

/**
 * Words that some reader of YAML takes for something else than text, in any spelling: booleans and null of YAML 1.1 and
 * 1.2, and numbers that are no digits.
 */
const WORD = /^(y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$/i

/** Text that no reader takes for anything else, and that has no character with a meaning of its own. */
const PLAIN = /^[A-Za-z](?:[\w ./@+=(),;'!?&*%^~$-]|:(?=[\w./]))*$/

/** Whether every reader of YAML 1.1 and 1.2 takes a text without quotes for that text. */
function isPlain(text: string): boolean {
  return PLAIN.test(text) && !WORD.test(text) && !text.endsWith(' ')
}

/** Whether a reader of YAML 1.1 or 1.2 may take a name without quotes for a boolean, null, a number or a date. */
export function looksLikeAnother(name: string): boolean {
  return WORD.test(name) || /^[-+.\d][-+.:_\dxob]*(e[-+]?\d+)?$/i.test(name) || /^0x[\da-f_]+$/i.test(name)
}

/**
 * A value of JSON as a document of YAML, in block style. Every reader of YAML 1.1 or 1.2 reads the same value from it:
 * what one could take for something else is quoted, and line breaks of YAML 1.1 are escaped, as are all characters that
 * a terminal would not show.
 *
 * @throws RangeError if a text is not Unicode (half a surrogate pair), which YAML cannot hold
 */
export function writeYaml(value: unknown): string {
  return `${node(value, '').trimStart()}\n`
}

/** A value with the space before it: on the line of its key, or on lines of its own. */
function node(value: unknown, indent: string): string {
  if (typeof value === 'string') return ` ${scalar(value, indent)}`
  if (typeof value === 'number') return ` ${number(value)}`
  if (typeof value !== 'object' || value === null) return ` ${String(value)}`
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []'
    return value.map((item) => `\n${indent}- ${node(item, `${indent}  `).trimStart()}`).join('')
  }
  const entries = Object.entries(value).filter(([, content]) => content !== undefined)
  if (entries.length === 0) return ' {}'
  return entries.map(([key, content]) => `\n${indent}${entry(key, content, indent)}`).join('')
}

function entry(key: string, value: unknown, indent: string): string {
  const name = isPlain(key) ? key : quoted(key)
  const content = node(value, `${indent}  `)
  return name.length > LONGEST_SIMPLE_KEY ? `? ${name}\n${indent}:${content}` : `${name}:${content}`
}

/** Some readers of YAML 1.1 take a number with an exponent and no point for text. */
function number(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError('JSON has no such number')
  return JSON.stringify(value).replace(/^(-?\d+)e/, '$1.0e')
}

function scalar(text: string, indent: string): string {
  if (isPlain(text)) return text
  if (!isBlock(text)) return quoted(text)
  const lines = text.replace(/\n$/, '').split('\n')
  const content = lines.map((line) => (line === '' ? '' : `${indent || '  '}${line}`)).join('\n')
  return `${text.endsWith('\n') ? '|' : '|-'}\n${content}`
}

/** Several lines of visible characters, which stay readable, and need no more than their indentation. */
function isBlock(text: string): boolean {
  return text.includes('\n') && escaped(text, true) === text && !NOT_IN_BLOCKS.test(text)
}

/** Begins with a space or an empty line, ends with an empty line, or has a line that ends with a space. */
const NOT_IN_BLOCKS = /^[ \n]|\n\n$| (\n|$)|[\ufffe\uffff]/

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('a string with half a surrogate pair cannot be written as YAML')
  return escapedBy(JSON.stringify(text), escapeOf).replaceAll(/[\ufffe\uffff]/g, escapeOf)
}

/** As YAML writes it: other than in JSON, not as surrogates. */
function escapeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
}
