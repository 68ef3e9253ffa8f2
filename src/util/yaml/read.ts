import { YamlError } from './cursor.ts'
import { decode, type YamlWarning } from './decode.ts'
import { parseDocument, type YamlNode } from './parser.ts'

/** A document that was read. Lines are counted from 1, from the start of the text. */
export interface YamlDocument {
  /** As JSON, which kubectl sends. */
  readonly value: unknown
  readonly warnings: readonly YamlWarning[]
  /** Line of the field at that path, or of the deepest field above it that is written down. */
  lineOf(path: readonly (string | number)[]): number
}

/**
 * The documents of a file as kubectl reads them: with sigs.k8s.io/yaml, which lies between YAML 1.1 and 1.2, after a
 * split at lines that begin with `---`; or as JSON, where the file begins with `{`. What kubectl refuses is refused.
 * Unlike kubectl, it also refuses collections nested deeper than 1,000 levels and a key that is there as text and as a
 * number.
 *
 * @param file bytes in UTF-8, or in UTF-16 with a byte order mark; or their text
 * @throws YamlError
 */
export function readYaml(file: string | Uint8Array): readonly YamlDocument[] {
  const text = typeof file === 'string' ? file : decoded(file)
  const { documents, rest, line, refused } = readJson(text)
  if (rest === '') return documents
  try {
    return [...documents, ...readChunks(rest, line)]
  } catch (error) {
    // What begins as JSON is JSON to whoever wrote it.
    throw error instanceof YamlError ? (refused ?? error) : error
  }
}

function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  return new TextDecoder(first === 0xff && second === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes)
}

/** What a stream of JSON begins with. */
interface JsonPart {
  readonly documents: readonly YamlDocument[]
  /** What is not JSON any more. */
  readonly rest: string
  /** Line of the rest, from 0. */
  readonly line: number
  /** Why the rest is no JSON. */
  readonly refused: YamlError | undefined
}

/** After more values of JSON, kubectl does not take a stream for YAML any more. */
const MOST_BEFORE_YAML = 1

/** White space to Go, whose list is another than that of regular expressions. */
const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const BEGINS_JSON = new RegExp(`^${SPACE}*\\{`)
const TO_LINE_END = new RegExp(`^((?!\\n)${SPACE})*\\n?`)
const SEPARATOR = new RegExp(`^---${SPACE}*(#|$)`)

/** @throws YamlError */
function readJson(text: string): JsonPart {
  if (!BEGINS_JSON.test(text)) return { documents: [], rest: text, line: 0, refused: undefined }
  const documents: YamlDocument[] = []
  let at = 0
  let line = 0
  for (let count = 0; ; count += 1) {
    const start = at + (/^[ \t\r\n]*/.exec(text.slice(at))?.[0].length ?? 0)
    if (start === text.length) return { documents, rest: '', line: 0, refused: undefined }
    const lineBefore = line
    line += linesIn(text.slice(at, start))
    const found = valueAt(text, start)
    if (found === undefined) {
      const refused = new YamlError(line + 1, 'invalid JSON')
      const gap = TO_LINE_END.exec(text.slice(at))?.[0] ?? ''
      const rest = text.slice(at + gap.length)
      // kubectl looks at four bytes, and gives up where there are fewer.
      const isShort = Buffer.byteLength(gap.endsWith('\n') ? `\n${rest}` : rest) < 4
      if (count > MOST_BEFORE_YAML || isShort) throw refused
      const skipped = linesIn(text.slice(at, text.length - rest.length))
      return { documents, rest, line: lineBefore + skipped, refused }
    }
    if (found.value !== null) {
      documents.push(documentOf(found.value, [], rootOf(text.slice(start, found.end), line), line))
    }
    line += linesIn(text.slice(start, found.end))
    at = found.end
  }
}

/** The JSON value that begins there; undefined if there is none. */
function valueAt(text: string, start: number): { readonly value: unknown; readonly end: number } | undefined {
  const end = '{['.includes(text[start] ?? ' ') ? endOfCollection(text, start) : endOfScalar(text, start)
  try {
    const wellFormed = (_key: string, value: unknown): unknown => {
      return typeof value === 'string' ? value.toWellFormed() : value
    }
    return { value: JSON.parse(text.slice(start, end), wellFormed), end }
  } catch {
    return undefined
  }
}

const WHOLE = String.raw`-?(?:0|[1-9]\d*(?!\d))`
const FRACTION = String.raw`\.\d+(?!\d)`
/** As much of a number as JSON allows, as in `0` of `08`; nothing of one that stops in the middle. */
const NUMBER = `${WHOLE}(?:${FRACTION})?[eE][-+]?\\d+(?!\\d)|${WHOLE}${FRACTION}(?![eE])|${WHOLE}(?![.eE])`
const SCALAR = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${NUMBER}|true|false|null`, 'sy')

function endOfScalar(text: string, start: number): number {
  SCALAR.lastIndex = start
  return start + (SCALAR.exec(text)?.[0].length ?? 0)
}

/** Where its brackets are closed; the end of the text if they never are. */
function endOfCollection(text: string, start: number): number {
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]"]/gs
  let depth = 0
  tokens.lastIndex = start
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    if ('{['.includes(found[0])) depth += 1
    if ('}]'.includes(found[0])) depth -= 1
    if (depth === 0) return tokens.lastIndex
  }
  return text.length
}

/** For lines alone: what JSON is cannot be told from it. */
function rootOf(text: string, line: number): YamlNode | undefined {
  try {
    return parseDocument(text, line)?.root
  } catch {
    return undefined
  }
}

/** The documents of a stream of YAML, split as `k8s.io/apimachinery/pkg/util/yaml` does. */
function readChunks(text: string, firstLine: number): readonly YamlDocument[] {
  const documents: YamlDocument[] = []
  let chunk: string[] = []
  const close = (end: number): void => {
    const document = readChunk(`${chunk.join('\n')}\n`, firstLine + end - chunk.length)
    if (document !== undefined) documents.push(document)
    chunk = []
  }
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  if (lines.at(-1) === '') lines.pop()
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('---') && !SEPARATOR.test(line)) {
      throw new YamlError(firstLine + index + 1, 'invalid document separator: put what follows --- on the next line')
    }
    // A separator with nothing above it is left to the parser.
    if (line.startsWith('---') && chunk.length > 0) close(index)
    else chunk.push(line)
  }
  if (chunk.length > 0) close(lines.length)
  return documents
}

/** Characters that a document may not have at all. */
const REFUSED = /[^\t\n\r\u{20}-\u{7e}\u{85}\u{a0}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u

function readChunk(chunk: string, line: number): YamlDocument | undefined {
  const text = chunk.replace(/^\u{feff}/u, '')
  const refused = REFUSED.exec(text)
  if (refused !== null) {
    throw new YamlError(line + linesIn(text.slice(0, refused.index)) + 1, 'control characters are not allowed')
  }
  const parsed = parseDocument(text, line)
  if (parsed === undefined) return undefined
  const { root, ignoredFrom } = parsed
  const { value, warnings } = decode(root)
  if (value === null) return undefined
  const ignored: readonly YamlWarning[] =
    ignoredFrom === undefined
      ? []
      : [{ line: ignoredFrom + 1, message: 'kubectl ignores what follows here: begin a document with ---' }]
  return documentOf(value, [...warnings, ...ignored, ...breaksIn(text, line)], root, line)
}

/** Line breaks of YAML 1.1 that YAML 1.2 takes for characters. */
function breaksIn(text: string, line: number): readonly YamlWarning[] {
  const [found] = [...text.matchAll(/[\u0085\u2028\u2029]/g)]
  if (found === undefined) return []
  const code = found[0].charCodeAt(0).toString(16).padStart(4, '0')
  const message = `U+${code.toUpperCase()} is a line break to kubectl, and a character to YAML 1.2: write "\\u${code}"`
  return [{ line: line + linesIn(text.slice(0, found.index)) + 1, message }]
}

function linesIn(text: string): number {
  return text.split('\n').length - 1
}

function documentOf(
  value: unknown,
  warnings: readonly YamlWarning[],
  root: YamlNode | undefined,
  line: number,
): YamlDocument {
  const lineOf = (path: readonly (string | number)[]): number => {
    return ((root && lineAt(root, path)) ?? root?.line ?? line) + 1
  }
  return { value, warnings, lineOf }
}

/** Undefined: the path leads out of the node at once. */
function lineAt(node: YamlNode, path: readonly (string | number)[]): number | undefined {
  const [step, ...rest] = path
  if (step === undefined) return node.line
  const target = node.kind === 'alias' ? node.target : node
  if (target.kind === 'sequence') {
    const item = target.items[Number(step)]
    return item && (lineAt(item, rest) ?? item.line)
  }
  if (target.kind !== 'mapping') return undefined
  const pair = target.pairs.findLast(([key]) => key.kind === 'scalar' && key.value === String(step))
  if (pair === undefined) return undefined
  const [key, value] = pair
  // The value of a field may begin on a later line than its name.
  return rest.length === 0 ? key.line : (lineAt(value, rest) ?? key.line)
}
