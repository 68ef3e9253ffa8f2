import { isExperimental, type KindDefinition } from '../../src/schema/definition.ts'
import { bytesLimit, fixedOnceSetRule, immutableRule, isFixedFieldRule } from '../../src/schema/rules.ts'
import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { rootSchema } from './crd.ts'
import { code, generatedMarkdownHeader, section, table } from './markdown.ts'

export interface PageExtras {
  /** A manifest in YAML. */
  readonly example?: string
  /** Markdown, shown after the example. */
  readonly notes?: string
  /** A paragraph below the head, to read before creating one. */
  readonly aside?: string
}

/** A field as a row of the page; the rules determine whether it can change. */
interface FieldRow {
  readonly path: string
  readonly node: SchemaNode
  readonly required: boolean
  readonly change: '' | 'immutable' | 'immutable once set'
}

/** The page of a kind in Markdown: example, fields of spec and status, rules, columns, conditions. */
export function kindPage(definition: KindDefinition, { example, notes, aside }: PageExtras = {}): string {
  const root = rootSchema(definition)
  const spec = root.properties?.spec
  const status = root.properties?.status
  const columns = definition.printerColumns.map((column) => [
    column.name,
    column.description,
    column.priority ? '`-o wide`' : '',
  ])
  return [
    `${generatedMarkdownHeader}\n# ${definition.kind}\n\n${definition.description}\n\n${facts(definition)}`,
    aside ? `\n${aside}\n` : '',
    section('Example', example ? `\`\`\`yaml\n${example.trim()}\n\`\`\`` : ''),
    notes ? `\n${notes.trim()}\n` : '',
    section('Spec', spec ? fieldTable(spec, new Set(definition.replacing)) : ''),
    section('Status', status ? fieldTable(status, new Set()) : ''),
    section('Rules', table(['Where', 'Rule'], rulesOf(root, ''))),
    section('Columns', table(['Column', 'Shows', 'Only with'], columns)),
    section('Conditions', conditionTable(definition)),
  ].join('')
}

/** The list of all kinds. */
export function kindIndex(definitions: readonly KindDefinition[]): string {
  const rows = [...definitions]
    .sort((a, b) => (a.kind < b.kind ? -1 : 1))
    .map(({ kind, plural, shortNames, description }) => [
      `[${kind}](${plural}.md)`,
      shortNames.map(code).join(', '),
      firstSentence(description) + (isExperimental(description) ? ' (experimental)' : ''),
    ])
  const head = `${generatedMarkdownHeader}\n# Kinds\n`
  return `${head}\n${table(['Kind', 'Short names', 'What for'], rows)}`
}

function facts(definition: KindDefinition): string {
  const { group, version, shortNames, scope, plural, pluralSharedWith, selectableFields = [] } = definition
  const names = [pluralSharedWith ? `${plural}.${group}` : plural, ...shortNames]
  const commands = names.map((name) => code(`kubectl get ${name}`)).join(' · ')
  const paths = ['metadata.name', ...selectableFields.map((path) => path.slice(1))].map(code).join(', ')
  return [
    `${code(`${group}/${version}`)} · ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'} · ${commands}\n`,
    pluralSharedWith ? `\nWrite the group in commands: ${pluralSharedWith} also has ${code(plural)}.\n` : '',
    selectableFields.length > 0 ? `\n${code('--field-selector')} takes ${paths}.\n` : '',
  ].join('')
}

function fieldTable(node: SchemaNode, replacing: ReadonlySet<string>): string {
  const rows = fieldsOf(node, '', '').map(({ path, node: field, required, change }) => [
    code(path),
    typeOf(field) + (required ? ', required' : ''),
    field.default === undefined ? '' : code(JSON.stringify(field.default)),
    limitsOf(field),
    replacing.has(path) ? 'replaces' : change,
    field.description ?? '',
  ])
  return table(['Field', 'Type', 'Default', 'Limits', 'Change', 'Meaning'], rows)
}

function fieldsOf(node: SchemaNode, prefix: string, inherited: FieldRow['change']): readonly FieldRow[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix + name
    const change = inherited || changeOf(node, name, field)
    const row: FieldRow = { path, node: field, required: node.required?.includes(name) ?? false, change }
    return [row, ...nestedFields(field, path, change)]
  })
}

function nestedFields(field: SchemaNode, path: string, change: FieldRow['change']): readonly FieldRow[] {
  const element = field.items ?? field.additionalProperties
  if (element) {
    return nestedFields(element, `${path}${field.items ? '[]' : '.*'}`, change)
  }
  return fieldsOf(field, `${path}.`, change)
}

function changeOf(parent: SchemaNode, name: string, field: SchemaNode): FieldRow['change'] {
  const has = (node: SchemaNode, rule: string) => node['x-kubernetes-validations']?.some((each) => each.rule === rule)
  const isFixed = parent['x-kubernetes-validations']?.some(({ rule }) => isFixedFieldRule(rule, name))
  if (has(field, immutableRule) || isFixed) {
    return 'immutable'
  }
  return has(parent, fixedOnceSetRule(name)) ? 'immutable once set' : ''
}

function typeOf(node: SchemaNode): string {
  if (node.enum) {
    return node.enum.map((value) => code(String(value))).join(' or ')
  }
  if (node.items) {
    return `list of ${typeOf(node.items)}`
  }
  if (node.additionalProperties) {
    return `map of ${typeOf(node.additionalProperties)}`
  }
  return node.format === 'date-time' ? 'time' : (node.type ?? '')
}

function limitsOf(node: SchemaNode): string {
  const limit = bytesLimit(node.maxLength ?? 0, '').rule
  const bytes = node['x-kubernetes-validations']?.some(({ rule }) => rule === limit)
  const element = node.items ?? node.additionalProperties
  const limits = [
    range(node.minLength, node.maxLength, bytes ? 'bytes' : 'characters'),
    range(node.minItems, node.maxItems, 'items'),
    range(node.minProperties, node.maxProperties, 'entries'),
    range(node.minimum, node.maximum, ''),
    node.pattern === undefined ? '' : code(node.pattern),
    element && !element.properties && limitsOf(element) ? `each ${limitsOf(element)}` : '',
  ]
  return limits.filter(Boolean).join(', ')
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) {
    return ''
  }
  const bounds = least === undefined ? `at most ${most}` : most === undefined ? `at least ${least}` : `${least}–${most}`
  return unit ? `${bounds} ${unit}` : bounds
}

function rulesOf(node: SchemaNode, path: string): readonly (readonly string[])[] {
  const own = (node['x-kubernetes-validations'] ?? []).map(({ message }) => [path ? code(path) : '', message])
  const fields = Object.entries(node.properties ?? {})
  const element = node.items ?? node.additionalProperties
  return [
    ...own,
    ...fields.flatMap(([name, field]) => rulesOf(field, path ? `${path}.${name}` : name)),
    ...(element ? rulesOf(element, `${path}${node.items ? '[]' : '.*'}`) : []),
  ]
}

function conditionTable({ conditions = [] }: KindDefinition): string {
  return table(
    ['Type', 'Meaning'],
    conditions.map(({ type, description }) => [code(type), description]),
  )
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text
}
