import type { Rule } from '../../src/schema/rules.ts'
import { SchemaError, type SchemaNode } from '../../src/schema/schema-node.ts'
import { readsOf } from './cel.ts'

/** Formats whose values are always short. */
const shortFormats = new Set(['date-time', 'date', 'duration'])

interface Around {
  /** Name of the nearest field, for messages about an item. */
  readonly field: string
  /** An enclosing list or map without an upper bound: it multiplies the cost of each rule below it. */
  readonly unbounded: string | undefined
  /** An enclosing list or map whose items cannot be matched with their old values. */
  readonly uncorrelatable: string | undefined
}

/**
 * Checks every rule of a structural schema: it parses, it names existing fields, its message names the field,
 * everything it reads is bounded (the apiserver refuses a rule whose cost it cannot estimate), and `oldSelf` occurs
 * only where old and new values can be matched.
 *
 * @throws SchemaError with the path.
 */
export function checkRules(node: SchemaNode, path: string): void {
  visit(node, path, { field: path, unbounded: undefined, uncorrelatable: undefined })
}

function visit(node: SchemaNode, path: string, around: Around): void {
  for (const rule of node['x-kubernetes-validations'] ?? []) {
    checkRule(rule, node, path, around)
  }
  const atomicMap = node['x-kubernetes-map-type'] === 'atomic' ? path : undefined
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    visit(child, `${path}.${name}`, { ...around, field: name, uncorrelatable: around.uncorrelatable ?? atomicMap })
  }
  if (node.items) {
    const paired = node['x-kubernetes-list-type'] === 'map'
    visit(node.items, `${path}[]`, {
      ...around,
      unbounded: around.unbounded ?? (node.maxItems === undefined ? path : undefined),
      uncorrelatable: around.uncorrelatable ?? (paired ? undefined : path),
    })
  }
  if (node.additionalProperties) {
    visit(node.additionalProperties, `${path}{}`, {
      ...around,
      unbounded: around.unbounded ?? (node.maxProperties === undefined ? path : undefined),
    })
  }
}

function checkRule(rule: Rule, node: SchemaNode, path: string, around: Around): void {
  const reads = readsOf(rule.rule, node, path)
  if (around.unbounded !== undefined) {
    throw new SchemaError(path, `has a rule, so ${around.unbounded} needs an upper bound of its length`)
  }
  for (const [readPath, read] of reads.nodes) {
    checkBounded(read, readPath, path)
  }
  if (reads.usesOldSelf && around.uncorrelatable !== undefined) {
    throw new SchemaError(
      path,
      `a rule with oldSelf is refused inside of ${around.uncorrelatable}, which is not a list map`,
    )
  }
  checkMessage(rule, [around.field, ...reads.fields], path)
  checkFieldPath(rule, node, path)
}

function checkBounded(node: SchemaNode, path: string, rulePath: string): void {
  const bound = missingBound(node)
  if (bound) {
    throw new SchemaError(path, `is read by a rule of ${rulePath}, so it needs ${bound}`)
  }
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    checkBounded(child, `${path}.${name}`, rulePath)
  }
  const element = node.items ?? node.additionalProperties
  if (element) {
    checkBounded(element, `${path}[]`, rulePath)
  }
}

function missingBound(node: SchemaNode): string | undefined {
  switch (node.type) {
    case 'string':
      return node.maxLength !== undefined || node.enum || shortFormats.has(node.format ?? '') ? undefined : 'maxLength'
    case 'array':
      return node.maxItems === undefined ? 'maxItems' : undefined
    case 'object':
      return node.additionalProperties && node.maxProperties === undefined ? 'maxProperties' : undefined
    default:
      return undefined
  }
}

function checkMessage(rule: Rule, names: readonly string[], path: string): void {
  const { message } = rule
  if (message.trim() === '' || /[\r\n]/.test(message)) {
    throw new SchemaError(path, 'the message of a rule is one line and not empty')
  }
  if (!names.some((name) => message.includes(name))) {
    throw new SchemaError(path, `the message ${JSON.stringify(message)} names none of the fields ${names.join(', ')}`)
  }
}

function checkFieldPath(rule: Rule, node: SchemaNode, path: string): void {
  if (rule.fieldPath === undefined) {
    return
  }
  const [before, ...names] = rule.fieldPath.split('.')
  let at: SchemaNode | undefined = node
  for (const name of names) {
    at = at?.properties?.[name]
  }
  if (before !== '' || names.length === 0 || !at) {
    throw new SchemaError(path, `the fieldPath "${rule.fieldPath}" of a rule leads to no field`)
  }
}
