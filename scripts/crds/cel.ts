import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { celName } from '../../src/schema/rules.ts'
import { SchemaError, type SchemaNode } from '../../src/schema/schema-node.ts'

const environment = new Environment({ enableOptionalTypes: true })
const comprehensions = new Set(['all', 'exists', 'exists_one', 'filter', 'map'])

/** What a rule reads. */
export interface RuleReads {
  /** Schemas that the rule reads as a whole, by path; each affects the cost of the rule. */
  readonly nodes: ReadonlyMap<string, SchemaNode>
  /** Names of the fields below `self` that the rule mentions, including in `has(self.x)`. */
  readonly fields: ReadonlySet<string>
  readonly usesOldSelf: boolean
}

/**
 * A place in the schema; undefined for anything that the schema does not describe (literals, function results, free
 * content).
 */
type Place = { readonly node: SchemaNode; readonly path: string } | undefined
type Scope = ReadonlyMap<string, Place>

/**
 * Parses a rule and returns which parts of its schema it reads.
 *
 * @throws SchemaError when the rule is not CEL, or names a field that the schema lacks.
 */
export function readsOf(rule: string, node: SchemaNode, path: string): RuleReads {
  return new RuleReader(node, path).read(parseRule(rule, path))
}

function parseRule(rule: string, path: string): ASTNode {
  try {
    return environment.parse(rule).ast
  } catch (cause) {
    throw new SchemaError(path, `the rule ${JSON.stringify(rule)} is not CEL`, { cause })
  }
}

class RuleReader {
  readonly #self: Place
  readonly #nodes = new Map<string, SchemaNode>()
  readonly #fields = new Set<string>()
  #usesOldSelf = false

  constructor(node: SchemaNode, path: string) {
    this.#self = { node, path }
  }

  read(ast: ASTNode): RuleReads {
    this.#whole(ast, new Map())
    return { nodes: this.#nodes, fields: this.#fields, usesOldSelf: this.#usesOldSelf }
  }

  /** Notes that the whole value of the expression is read. */
  #whole(ast: ASTNode, scope: Scope): void {
    const place = this.#resolve(ast, scope)
    if (place) {
      this.#nodes.set(place.path, place.node)
    }
  }

  /** The place that the expression leads to; notes everything read on the way. */
  #resolve(ast: ASTNode, scope: Scope): Place {
    switch (ast.op) {
      case 'value':
        return undefined
      case 'id':
        return this.#variable(ast.args, scope)
      case '.':
      case '.?':
        return this.#field(this.#resolve(ast.args[0], scope), ast.args[1])
      case '[]':
      case '[?]':
        this.#whole(ast.args[1], scope)
        return elementOf(this.#resolve(ast.args[0], scope))
      case 'call':
        return this.#call(ast.args[0], ast.args[1], scope)
      case 'rcall':
        return this.#method(ast.args[0], ast.args[1], ast.args[2], scope)
      default:
        for (const operand of operandsOf(ast)) {
          this.#whole(operand, scope)
        }
        return undefined
    }
  }

  #variable(name: string, scope: Scope): Place {
    if (scope.has(name)) {
      return scope.get(name)
    }
    if (name === 'oldSelf') {
      this.#usesOldSelf = true
    }
    return name === 'self' || name === 'oldSelf' ? this.#self : undefined
  }

  #field(parent: Place, name: string): Place {
    if (!parent) {
      return undefined
    }
    const { node, path } = parent
    if (node.additionalProperties) {
      return elementOf(parent)
    }
    const field = Object.keys(node.properties ?? {}).find((candidate) => celName(candidate) === name)
    const found = field === undefined ? undefined : node.properties?.[field]
    if (field === undefined || !found) {
      throw new SchemaError(path, `a rule names the field "${name}", which the schema lacks`)
    }
    this.#fields.add(field)
    return { node: found, path: `${path}.${field}` }
  }

  #call(name: string, args: readonly ASTNode[], scope: Scope): Place {
    for (const argument of args) {
      // has() reads no content.
      if (name === 'has') {
        this.#resolve(argument, scope)
      } else {
        this.#whole(argument, scope)
      }
    }
    return undefined
  }

  #method(name: string, receiver: ASTNode, args: readonly ASTNode[], scope: Scope): Place {
    const place = this.#resolve(receiver, scope)
    if (!comprehensions.has(name)) {
      if (place) {
        this.#nodes.set(place.path, place.node)
      }
      for (const argument of args) {
        this.#whole(argument, scope)
      }
      return undefined
    }
    return this.#comprehension(name, place, args, scope)
  }

  /** `list.all(item, …)`: counts the length of the list, and the parts of its items that the body reads. */
  #comprehension(name: string, place: Place, args: readonly ASTNode[], scope: Scope): Place {
    const inner = new Map(scope)
    const variables = args.slice(0, -1).filter((argument) => argument.op === 'id')
    for (const variable of variables) {
      inner.set(String(variable.args), undefined)
    }
    const item = variables.at(-1)
    if (item && place) {
      const { items: _items, ...bounds } = place.node
      this.#nodes.set(place.path, bounds)
      inner.set(String(item.args), place.node.items ? elementOf(place) : undefined)
    }
    for (const body of args.slice(variables.length)) {
      this.#whole(body, inner)
    }
    return name === 'filter' ? place : undefined
  }
}

function elementOf(parent: Place): Place {
  const node = parent?.node.items ?? parent?.node.additionalProperties
  return node && parent ? { node, path: `${parent.path}[]` } : undefined
}

function operandsOf(ast: ASTNode): readonly ASTNode[] {
  const args: unknown = ast.args
  const flat = Array.isArray(args) ? args.flat() : [args]
  return flat.filter(
    (operand): operand is ASTNode => typeof operand === 'object' && operand !== null && 'op' in operand,
  )
}
