import { YamlError } from './cursor.ts'
import type { ScalarNode } from './parser.ts'

/** What a scalar is read as. */
export type Resolved =
  | { readonly type: 'null'; readonly value: null }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'str'; readonly value: string }

const NULL: Resolved = { type: 'null', value: null }
const INFINITE = Number.POSITIVE_INFINITY

/** Words that go.yaml.in/yaml/v2 reads as something else than text: those of YAML 1.1, in three spellings each. */
const WORDS: ReadonlyMap<string, Resolved> = new Map([
  ...spelled(['y', 'yes', 'true', 'on'], { type: 'bool', value: true }),
  ...spelled(['n', 'no', 'false', 'off'], { type: 'bool', value: false }),
  ...spelled(['', '~', 'null'], NULL),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, { type: 'float', value: Number.NaN }] as const),
  ...spelled(['.inf', '+.inf'], { type: 'float', value: INFINITE }),
  ...spelled(['-.inf'], { type: 'float', value: -INFINITE }),
])

function spelled(words: readonly string[], resolved: Resolved): (readonly [string, Resolved])[] {
  return words.flatMap((word) => {
    const capital = word.replace(/[a-z]/, (letter) => letter.toUpperCase())
    return [...new Set([word, capital, word.toUpperCase()])].map((each) => [each, resolved] as const)
  })
}

const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/

/** A number that begins with a point: only between digits may it have underscores. */
const DOTTED = /^\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?$/

/** A plain scalar as go.yaml.in/yaml/v2 reads it, whose rules lie between YAML 1.1 and 1.2. */
function resolvePlain(text: string): Resolved {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (DOTTED.test(text)) return float(text.replaceAll('_', '')) ?? { type: 'str', value: text }
  if (/^[-+0-9]/.test(text)) {
    const plain = text.replaceAll('_', '')
    return integer(plain) ?? float(plain) ?? { type: 'str', value: text }
  }
  return { type: 'str', value: text }
}

/** A plain scalar as the core schema of YAML 1.2 reads it. */
export function resolveCore(text: string): Resolved {
  if (/^(~|null|Null|NULL|)$/.test(text)) return NULL
  if (/^(true|True|TRUE)$/.test(text)) return { type: 'bool', value: true }
  if (/^(false|False|FALSE)$/.test(text)) return { type: 'bool', value: false }
  if (/^[-+]?[0-9]+$/.test(text)) {
    return { type: 'int', value: BigInt(text.replace(/^\+/, '').replace(/^-/, '')) * (text.startsWith('-') ? -1n : 1n) }
  }
  if (/^0o[0-7]+$/.test(text) || /^0x[0-9a-fA-F]+$/.test(text)) return { type: 'int', value: BigInt(text) }
  if (FLOAT.test(text)) return { type: 'float', value: Number(text) }
  if (/^[-+]?(\.inf|\.Inf|\.INF)$/.test(text)) {
    return { type: 'float', value: text.startsWith('-') ? -INFINITE : INFINITE }
  }
  if (/^(\.nan|\.NaN|\.NAN)$/.test(text)) return { type: 'float', value: Number.NaN }
  return { type: 'str', value: text }
}

/** Digits by prefix, as Go's strconv.ParseInt reads them with base 0. */
const BASES = [
  { digits: /^0[bB]([01]+)$/, prefix: '0b' },
  { digits: /^0[xX]([0-9a-fA-F]+)$/, prefix: '0x' },
  { digits: /^0[oO]?([0-7]+)$/, prefix: '0o' },
  { digits: /^(0|[1-9][0-9]*)$/, prefix: '' },
] as const

function integer(text: string): Resolved | undefined {
  const [, sign = '', rest = ''] = /^([-+]?)(.*)$/s.exec(text) ?? []
  for (const { digits, prefix } of BASES) {
    const [, found] = digits.exec(rest) ?? []
    if (found === undefined) continue
    const size = BigInt(prefix + found)
    const value = sign === '-' ? -size : size
    // Only a number without a sign may be as large as 64 bits allow.
    const most = sign === '' ? 2n ** 64n - 1n : 2n ** 63n - 1n
    return value >= -(2n ** 63n) && value <= most ? { type: 'int', value } : undefined
  }
  return undefined
}

function float(text: string): Resolved | undefined {
  const value = FLOAT.test(text) ? Number(text) : INFINITE
  // Go refuses what is beyond the range.
  return Number.isFinite(value) ? { type: 'float', value } : undefined
}

const TAG = /^tag:yaml\.org,2002:(str|bool|int|float|null|timestamp|binary)$/

/** @throws YamlError if the scalar is not what its tag says */
export function resolveScalar(node: ScalarNode): Resolved {
  const { tag, value, isPlain, line } = node
  if (tag === '') return isPlain ? resolvePlain(value) : { type: 'str', value }
  const [, type] = TAG.exec(tag) ?? []
  switch (type) {
    case undefined:
    case 'str':
      return { type: 'str', value }
    case 'binary':
      return { type: 'str', value: decodedBinary(value, line) }
    case 'timestamp':
      if (TIMESTAMP.test(value)) return { type: 'str', value }
      break
    default: {
      const resolved = resolvePlain(value)
      if (type === 'float' && resolved.type === 'int' && resolved.value < 2n ** 63n) {
        return { type: 'float', value: Number(resolved.value) }
      }
      if (resolved.type === type) return resolved
    }
  }
  throw new YamlError(line + 1, `cannot decode the value as !!${type}`)
}

/** The forms of dates and times that go.yaml.in/yaml/v2 accepts; it reads them as text. */
const TIMESTAMP =
  /^\d{4}-(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])([Tt]([01]?\d|2[0-3]):[0-5]?\d:[0-5]?\d([.,]\d+)?(Z|[-+]\d\d:\d\d)| ([01]?\d|2[0-3]):[0-5]?\d:[0-5]?\d([.,]\d+)?)?$/

function decodedBinary(value: string, line: number): string {
  const text = value.replaceAll(/[\r\n]/g, '')
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new YamlError(line + 1, '!!binary value contains invalid base64 data')
  }
  return Buffer.from(text, 'base64').toString('utf8')
}
