import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { celName } from '../../../src/schema/rules.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'

/** A CEL expression without source positions, so that equal expressions compare equal. */
export type Term = boolean | string | { readonly op: string; readonly args: readonly Term[] }

/** The schema at an expression: undefined if unknown, or `absent` if there is no such field. */
type Found = SchemaNode | 'absent' | undefined
type Scope = ReadonlyMap<string, Found>

const environment = new Environment({ enableOptionalTypes: true })

/**
 * The conditions of a rule, all of which must hold, for resources that contain only what `schema` knows: a field it
 * lacks is unset, and an enum has only its values. Conditions that always hold for such a resource are omitted.
 */
export function conditionsOf(rule: string, schema: SchemaNode): readonly Term[] {
  const scope = new Map<string, Found>([
    ['self', schema],
    ['oldSelf', schema],
  ])
  return operandsOf('&&', termOf(environment.parse(rule).ast, scope)).filter((term) => term !== true)
}

function termOf(ast: ASTNode, scope: Scope): Term {
  switch (ast.op) {
    case 'value':
      return typeof ast.args === 'boolean' ? ast.args : { op: typeof ast.args, args: [String(ast.args)] }
    case 'id':
      return { op: 'id', args: [ast.args] }
    case '.':
    case '.?':
      return { op: ast.op, args: [termOf(ast.args[0], scope), ast.args[1]] }
    case '!_':
      return negated(termOf(ast.args, scope))
    case '&&':
    case '||':
      return joined(ast.op, [termOf(ast.args[0], scope), termOf(ast.args[1], scope)])
    case '?:':
      return chosen(ast.args.map((part) => termOf(part, scope)))
    case '==':
    case '!=':
      return compared(ast.op, ast.args, scope)
    case 'in':
      return contained(ast.args, scope)
    case '<=':
      return atMost(ast.args.map((part) => termOf(part, scope)))
    case 'call':
      return called(ast.args[0], ast.args[1], scope)
    case 'rcall':
      return method(ast.args[0], ast.args[1], ast.args[2], scope)
    default:
      return { op: ast.op, args: partsOf(ast).map((part) => termOf(part, scope)) }
  }
}

function negated(term: Term): Term {
  return typeof term === 'boolean' ? !term : { op: '!', args: [term] }
}

/** `&&` and `||` of any number of terms, without irrelevant ones. */
function joined(op: '&&' | '||', terms: readonly Term[]): Term {
  const [neutral, deciding] = op === '&&' ? [true, false] : [false, true]
  const flat = terms.flatMap((term) => operandsOf(op, term)).filter((term) => term !== neutral)
  if (flat.includes(deciding)) return deciding
  return flat.length <= 1 ? (flat[0] ?? neutral) : { op, args: flat }
}

function operandsOf(op: '&&' | '||', term: Term): readonly Term[] {
  return typeof term === 'object' && term.op === op ? term.args : [term]
}

function chosen([condition = false, then = false, otherwise = false]: readonly Term[]): Term {
  if (typeof condition === 'boolean') return condition ? then : otherwise
  return { op: '?:', args: [condition, then, otherwise] }
}

function compared(op: '==' | '!=', sides: readonly [ASTNode, ASTNode], scope: Scope): Term {
  const [left, right] = sides.map((side) => termOf(side, scope)) as [Term, Term]
  const equal = op === '=='
  if (typeof left === 'boolean' && typeof right === 'boolean') return (left === right) === equal
  return isOther(sides[0], sides[1], scope) || isOther(sides[1], sides[0], scope) ? !equal : { op, args: [left, right] }
}

/** Whether a field is an enum without this value. */
function isOther(field: ASTNode, value: ASTNode, scope: Scope): boolean {
  const found = value.op === 'value' && typeof value.args === 'string' ? foundAt(field, scope) : undefined
  return typeof found === 'object' && found.enum !== undefined && !found.enum.includes(value.args)
}

function contained([item, list]: readonly [ASTNode, ASTNode], scope: Scope): Term {
  const values = list.op === 'list' ? list.args.filter((value) => !isOther(item, value, scope)) : undefined
  if (values?.length === 0) return false
  const among = values ? { op: 'list', args: values.map((value) => termOf(value, scope)) } : termOf(list, scope)
  return { op: 'in', args: [termOf(item, scope), among] }
}

/** At most one of a single field is always true: this is `atMostOne` without the others. */
function atMost(args: readonly Term[]): Term {
  const [count, limit] = args
  const one = isTerm(limit, 'bigint') && limit.args[0] === '1'
  const filtered = isTerm(count, 'size') && isTerm(count.args[0], 'filter') ? count.args[0].args[0] : undefined
  return one && isTerm(filtered, 'list') && filtered.args.length <= 1 ? true : { op: '<=', args }
}

function called(name: string, args: readonly ASTNode[], scope: Scope): Term {
  const [argument] = args
  if (name === 'has' && argument && foundAt(argument, scope) === 'absent') return false
  return { op: name, args: args.map((each) => termOf(each, scope)) }
}

function method(name: string, receiver: ASTNode, args: readonly ASTNode[], scope: Scope): Term {
  const [variable, ...rest] = args
  if (variable?.op !== 'id' || rest.length === 0) {
    return { op: name, args: [receiver, ...args].map((each) => termOf(each, scope)) }
  }
  const inner = new Map([...scope, [variable.args, elementOf(foundAt(receiver, scope))]])
  const body = rest.map((each) => termOf(each, inner))
  if (name === 'all' && body[0] === true) return true
  if (name === 'exists' && body[0] === false) return false
  return { op: name, args: [trueOnly(name, termOf(receiver, scope), body), variable.args, ...body] }
}

/** A list of conditions in which the true ones are counted, without those that are never true. */
function trueOnly(name: string, list: Term, [body]: readonly Term[]): Term {
  const counted = name === 'filter' && isTerm(body, 'id') && isTerm(list, 'list')
  return counted ? { op: 'list', args: list.args.filter((each) => each !== false) } : list
}

function isTerm(term: Term | undefined, op: string): term is Exclude<Term, boolean | string> {
  return typeof term === 'object' && term.op === op
}

function foundAt(ast: ASTNode, scope: Scope): Found {
  if (ast.op === 'id') return scope.get(ast.args)
  if (ast.op === '[]') return elementOf(foundAt(ast.args[0], scope))
  return ast.op === '.' || ast.op === '.?' ? fieldOf(foundAt(ast.args[0], scope), ast.args[1]) : undefined
}

function fieldOf(parent: Found, name: string): Found {
  if (typeof parent !== 'object') return parent
  const { properties, additionalProperties } = parent
  const field = Object.keys(properties ?? {}).find((candidate) => celName(candidate) === name)
  if (field !== undefined) return properties?.[field]
  const closed = properties !== undefined && parent['x-kubernetes-preserve-unknown-fields'] !== true
  return additionalProperties ?? (closed ? 'absent' : undefined)
}

function elementOf(parent: Found): Found {
  return typeof parent === 'object' ? (parent.items ?? parent.additionalProperties) : parent
}

function partsOf(ast: ASTNode): readonly ASTNode[] {
  const args: unknown = ast.args
  const flat = (Array.isArray(args) ? args.flat() : [args]) as readonly unknown[]
  return flat.filter((part): part is ASTNode => typeof part === 'object' && part !== null && 'op' in part)
}
