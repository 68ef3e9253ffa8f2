import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { STEP_KINDS, type StepKind } from '../../judging/world.ts'
import { isObject } from '../../util/json.ts'
import { YamlError } from '../../util/yaml/cursor.ts'
import { readYaml } from '../../util/yaml/read.ts'
import { CommandError } from '../cluster/command-error.ts'

/** A connection to check, as flags or a file state it. */
export interface Connection {
  /** An Edge, or a hostport. */
  readonly to: string
  readonly from: string
  readonly tls?: string | undefined
  readonly sni?: string | undefined
  /** Path of a PEM. */
  readonly cert?: string | undefined
}

/** A connection and what is to become of it. */
export interface Expectation extends Connection {
  readonly expect: 'admitted' | 'refused'
  /** The step that is to refuse it; undefined: any. */
  readonly by?: StepKind | undefined
  /** Where it is in the file, from 1. */
  readonly line: number
}

const TEXTS = ['to', 'tls', 'sni', 'cert'] as const
const FIELDS: ReadonlySet<string> = new Set([...TEXTS, 'from', 'expect', 'by'])

/** The expectations of a file (docs/cli/check.md), one for each address. @throws CommandError `BadArgument` */
export async function readExpectations(path: string): Promise<readonly Expectation[]> {
  const documents = await read(path)
  return documents.flatMap(({ value, lineOf }) => {
    if (!Array.isArray(value)) throw wrong(path, lineOf([]), 'must be a list of expectations')
    return value.flatMap((item: unknown, index) => expectationsIn(item, path, lineOf([index])))
  })
}

async function read(path: string) {
  try {
    return readYaml(await readFile(path))
  } catch (error) {
    if (error instanceof YamlError) throw wrong(path, error.line, `is not YAML: ${error.message}`)
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new CommandError('BadArgument', `${path} cannot be read (${code}): correct the path`, undefined, {
      cause: error,
    })
  }
}

function expectationsIn(item: unknown, path: string, line: number): readonly Expectation[] {
  if (!isObject(item)) throw wrong(path, line, 'is not an expectation: set to, from and expect')
  const unknown = Object.keys(item).find((field) => !FIELDS.has(field))
  if (unknown !== undefined)
    throw wrong(path, line, `has an unknown field ${JSON.stringify(unknown)}: use ${[...FIELDS].join(', ')}`)
  const { expect, by } = item
  if (expect !== 'admitted' && expect !== 'refused') throw wrong(path, line, 'must set expect to admitted or refused')
  const step = STEP_KINDS.find((kind) => kind === by)
  if (by !== undefined && (step === undefined || expect === 'admitted')) {
    throw wrong(path, line, `may set by only with expect: refused, to one of ${STEP_KINDS.join(', ')}`)
  }
  const texts = Object.fromEntries(
    TEXTS.flatMap((field) => (item[field] === undefined ? [] : [[field, textIn(item[field])]])),
  )
  const from = [item.from].flat().map(textIn)
  const { to, ...rest } = texts
  if (to === undefined || from.includes(undefined) || Object.values(texts).includes(undefined)) {
    throw wrong(path, line, 'must set to and from, and every field to a string: quote a version of TLS')
  }
  const other = from.find((address) => isIP(address ?? '') === 0)
  if (other !== undefined) throw wrong(path, line, `has from ${JSON.stringify(other)}, which is not an IP address`)
  return from.map((address) => ({ to, from: address ?? '', ...rest, expect, by: step, line }))
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function wrong(path: string, line: number, problem: string): CommandError {
  return new CommandError('BadArgument', `${path}:${line} ${problem}`)
}
