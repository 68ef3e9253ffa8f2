import { createHash } from 'node:crypto'
import { parseAst } from 'rolldown/parseAst'
import type { Aim, Mutant } from './mutant.ts'

/** The code that changes accounts. */
const MANAGED = [
  'delete/delete',
  'identity/copies',
  'identity/create',
  'identity/create-step',
  'identity/find-object',
  'identity/ownership',
  'identity/read-object',
  'identity/recovery',
  'identity/resolve-unknown',
  'identity/take-object',
  'identity/taken-over',
  'outputs/claim',
  'outputs/held-token',
  'outputs/token',
  'outputs/token-care',
  'plan/apply',
  'plan/children',
  'plan/make-object',
  'plan/plan',
  'plan/replace',
  'plan/retire-former',
  'reconcile/converge',
  'reconcile/reconciliation',
  'rotation/decide',
  'rotation/rotation',
].map((name) => `src/managed/${name}.ts`)
const API = ['account-cache', 'client', 'collection-cache', 'failure', 'transport'].map((name) => `src/api/${name}.ts`)
const MUTATED_FILES: readonly string[] = [...MANAGED, ...API]

/** Mutants of each operator. */
const OF_EACH = 3

/** An object that the resource adopted has no create. */
const ADOPTION: Aim = { suite: 'adoption', cases: ' / adopted' }

/** Where to detect the mutants that the suites tried first cannot see, by title. */
const AIMS: Readonly<Record<string, Aim>> = {
  'ConditionalExpression in src/managed/outputs/token-care.ts: status.adopted && status.output === undefined → false':
    ADOPTION,
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** One place, and an operator's replacement for it. */
interface Change {
  readonly operator: string
  readonly start: number
  readonly end: number
  readonly replacement: string
}

type Operator = (node: Node, source: string) => readonly Omit<Change, 'operator'>[]

const EQUALITY: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
}
const LOGICAL: Readonly<Record<string, string>> = { '&&': '||', '||': '&&', '??': '&&' }
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' }
const METHODS: Readonly<Record<string, string>> = { some: 'every', every: 'some', min: 'max', max: 'min' }

/** Stryker's operators, by its names, if they change what code does rather than what it says. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  ConditionalExpression: (node) => {
    if (node.type !== 'IfStatement' && node.type !== 'ConditionalExpression') return []
    return ['true', 'false'].map((replacement) => ({ ...at(node.test), replacement }))
  },
  EqualityOperator: (node, source) => (node.type === 'BinaryExpression' ? swapped(node, source, EQUALITY) : []),
  LogicalOperator: (node, source) => (node.type === 'LogicalExpression' ? swapped(node, source, LOGICAL) : []),
  ArithmeticOperator: (node, source) => (node.type === 'BinaryExpression' ? swapped(node, source, ARITHMETIC) : []),
  BooleanLiteral: (node, source) => {
    if (node.type === 'Literal' && typeof node.value === 'boolean')
      return [{ ...at(node), replacement: String(!node.value) }]
    if (node.type !== 'UnaryExpression' || node.operator !== '!') return []
    return [{ ...at(node), replacement: textOf(node.argument, source) }]
  },
  BlockStatement: (node) => {
    const body = node.type === 'BlockStatement' ? (node.body as readonly Node[]) : []
    return body.length > 0 ? [{ ...at(node), replacement: '{}' }] : []
  },
  ArrayDeclaration: (node) => {
    const elements = node.type === 'ArrayExpression' ? (node.elements as readonly Node[]) : []
    return elements.length > 0 ? [{ ...at(node), replacement: '[]' }] : []
  },
  OptionalChaining: (node, source) => {
    if (node.type !== 'MemberExpression' || node.optional !== true) return []
    const { end } = node.object as Node
    const dots = source.indexOf('?.', end)
    return source[dots + 2] === '[' ? [] : [{ start: dots, end: dots + 2, replacement: '.' }]
  },
  MethodExpression: (node, source) => {
    const callee = node.type === 'CallExpression' ? (node.callee as Node) : undefined
    if (callee?.type !== 'MemberExpression') return []
    const { object, property } = callee as unknown as { readonly object: Node; readonly property: Node }
    const name = textOf(property, source)
    const other = METHODS[name]
    if (other !== undefined) return [{ ...at(property), replacement: other }]
    return name === 'filter' || name === 'sort' ? [{ ...at(node), replacement: textOf(object, source) }] : []
  },
}

/**
 * Mutants chosen mechanically: for each operator, the places whose text has the lowest digests. The choice changes only
 * with the text of these places.
 * @throws Error for an aim of a mutant that is not among them
 */
export function operatorMutants(read: (file: string) => string): readonly Mutant[] {
  const found = MUTATED_FILES.flatMap((file) => changesIn(file, read(file)))
  const chosen = Object.keys(OPERATORS).flatMap((operator) => {
    const own = found.filter((each) => each.operator === operator)
    return own.toSorted((left, right) => (left.digest < right.digest ? -1 : 1)).slice(0, OF_EACH)
  })
  const unknown = Object.keys(AIMS).filter((title) => !chosen.some((each) => each.title === title))
  if (unknown.length > 0) throw new Error(`aimed, but there is no such mutant: ${unknown.join('; ')}`)
  return chosen.map((each): Mutant => {
    const first = AIMS[each.title]
    return first === undefined ? each : { ...each, first }
  })
}

function changesIn(file: string, source: string) {
  const seen = new Map<string, number>()
  const found: (Mutant & { readonly operator: string; readonly digest: string })[] = []
  walk(parseAst(source, { lang: 'ts' }) as unknown as Node, (node) => {
    for (const [operator, changes] of Object.entries(OPERATORS)) {
      for (const { start, end, replacement } of changes(node, source)) {
        const words = `${operator} in ${file}: ${shown(source, start, end)} → ${oneLine(replacement)}`
        const around = oneLine(source.slice(Math.max(0, start - 60), end + 60))
        const number = (seen.get(words) ?? 0) + 1
        seen.set(words, number)
        const title = number === 1 ? words : `${words} (${number})`
        const edits = [[source, `${source.slice(0, start)}${replacement}${source.slice(end)}`]] as const
        const digest = createHash('sha256').update(`${words} ${around}`).digest('hex')
        found.push({ title, file, edits, operator, digest })
      }
    }
  })
  return found
}

/** Types and imports are skipped: they do nothing. */
function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit)
  if (typeof value !== 'object' || value === null || !('type' in value)) return
  const node = value as Node
  if (node.type.startsWith('TSType') || node.type.startsWith('TSInterface') || node.type === 'ImportDeclaration') return
  visit(node)
  for (const child of Object.values(node)) if (typeof child === 'object') walk(child, visit)
}

function swapped(
  node: Node,
  source: string,
  table: Readonly<Record<string, string>>,
): readonly Omit<Change, 'operator'>[] {
  const operator = String(node.operator)
  const replacement = table[operator]
  const start = source.indexOf(operator, (node.left as Node).end)
  return replacement === undefined ? [] : [{ start, end: start + operator.length, replacement }]
}

function at(node: unknown): { readonly start: number; readonly end: number } {
  const { start, end } = node as Node
  return { start, end }
}

function textOf(node: unknown, source: string): string {
  const { start, end } = at(node)
  return source.slice(start, end)
}

/** The text at that place; if short, with its line. */
function shown(source: string, start: number, end: number): string {
  const text = oneLine(source.slice(start, end))
  if (text.length > 4) return text
  const line = source.slice(source.lastIndexOf('\n', start) + 1, source.indexOf('\n', end))
  return `${text} of "${oneLine(line)}"`
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= 70 ? line : `${line.slice(0, 50)} … ${line.slice(-16)}`
}
