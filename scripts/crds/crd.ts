import type { KindDefinition, PrinterColumn } from '../../src/schema/definition.ts'
import type { Rule } from '../../src/schema/rules.ts'
import { SchemaError, type SchemaNode } from '../../src/schema/schema-node.ts'
import { toStructural } from '../../src/schema/structural.ts'
import { compileNode } from '../../src/schema/validator.ts'
import { text } from '../permissions/cel-literals.ts'
import { checkRules } from './rule-checks.ts'

/** A CustomResourceDefinition, ready to be written as YAML. Keys are in the order in which they are written. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}

/**
 * The CRD of a kind, with the subresources `status` and, if it has replicas, `scale`.
 *
 * @throws SchemaError when the apiserver would refuse it: a keyword that is not structural, a rule that is invalid or
 * of unbounded cost, a default that its own schema refuses, a printer column or selectable field without a target.
 */
export function toCRD(definition: KindDefinition): CustomResourceDefinition {
  const { group, version, kind, plural, singular, shortNames, categories, scope } = definition
  const schema = explained(rootSchema(definition), kind)
  checkRules(schema, kind)
  checkDefaults(schema, kind)
  for (const column of definition.printerColumns) {
    checkColumn(column, schema)
  }
  for (const path of [...(definition.selectableFields ?? []), ...Object.values(definition.scale ?? {})]) {
    checkSelectable(path, schema)
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular, ...ifAny({ shortNames, categories }) },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: withoutMetadata(schema) },
          subresources: { status: {}, ...scaleOf(definition) },
          additionalPrinterColumns: definition.printerColumns.map(printerColumn),
          ...selectable(definition),
        },
      ],
    },
  }
}

/** The structural schema of a whole resource. `metadata` has the fields that rules may read. */
export function rootSchema(definition: KindDefinition): SchemaNode {
  const name = { type: 'string', description: 'Name of the resource.', maxLength: 253 }
  return {
    description: definition.description,
    type: 'object',
    ...(definition.specRequired === false ? {} : { required: ['spec'] }),
    properties: {
      apiVersion: { type: 'string', description: 'Version of the schema of this object.' },
      kind: { type: 'string', description: 'The kind of this object.' },
      metadata: { type: 'object', description: 'Standard metadata.', properties: { name, generateName: name } },
      spec: toStructural(definition.spec, 'spec'),
      status: untouchedStatus(toStructural(definition.status, 'status')),
    },
    ...rootRules(definition.rootRules ?? []),
  }
}

/**
 * Makes the apiserver create a resource with a status. kstatus treats a resource without one as finished, so Argo CD
 * and Flux would go on before the first reconcile.
 */
function untouchedStatus(status: SchemaNode): SchemaNode {
  return status.properties?.observedGeneration ? { ...status, default: { observedGeneration: -1 } } : status
}

function rootRules(rules: readonly Rule[]): Pick<SchemaNode, 'x-kubernetes-validations'> {
  return rules.length > 0 ? { 'x-kubernetes-validations': rules.map((rule) => ({ ...rule })) } : {}
}

/** The apiserver has its own schema of metadata and accepts only `type: object`. */
function withoutMetadata(schema: SchemaNode): SchemaNode {
  return { ...schema, properties: { ...schema.properties, metadata: { type: 'object' } } }
}

function printerColumn({ name, type, jsonPath, description, priority }: PrinterColumn): Record<string, unknown> {
  return { name, type, jsonPath, description, ...(priority ? { priority } : {}) }
}

/** Without lists and maps that are empty: the API server drops them, and a diff with the manifest would never end. */
function ifAny<T extends Readonly<Record<string, object>>>(fields: T): Partial<T> {
  const some = Object.entries(fields).filter(([, field]) => Object.keys(field).length > 0)
  return Object.fromEntries(some) as Partial<T>
}

function selectable({ selectableFields = [] }: KindDefinition): Record<string, unknown> {
  return ifAny({ selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) })
}

/**
 * Without patterns: the API server would show the regular expression alone, and evaluates no rule of a resource that
 * does not match one. Rules say the same in words.
 */
function explained({ pattern, mustBe, properties: fields = {}, ...rest }: SchemaNode, field: string): SchemaNode {
  const properties = Object.entries(fields).map(([name, child]) => [name, explained(child, name)])
  const { items, additionalProperties: values } = rest
  const rules = rest['x-kubernetes-validations'] ?? []
  const isExplained = pattern !== undefined && mustBe !== undefined
  const rule = isExplained ? [{ rule: `self.matches(${text(pattern)})`, message: `${field} must be ${mustBe}` }] : []
  return {
    ...rest,
    ...(pattern === undefined || isExplained ? {} : { pattern }),
    ...(rule.length + rules.length === 0 ? {} : { 'x-kubernetes-validations': [...rule, ...rules] }),
    ...ifAny({ properties: Object.fromEntries(properties) }),
    ...(items === undefined ? {} : { items: explained(items, field) }),
    ...(values === undefined ? {} : { additionalProperties: explained(values, field) }),
  }
}

function scaleOf({ scale }: KindDefinition): Readonly<Record<string, unknown>> {
  if (scale === undefined) return {}
  const { specReplicas: specReplicasPath, statusReplicas: statusReplicasPath, labelSelector: labelSelectorPath } = scale
  return { scale: { specReplicasPath, statusReplicasPath, labelSelectorPath } }
}

function checkColumn({ name, jsonPath }: PrinterColumn, schema: SchemaNode): void {
  const steps = jsonPath.match(/\.[A-Za-z]+|\[[^\]]*\]/g) ?? []
  if (steps.join('') !== jsonPath || steps.length === 0) {
    throw new SchemaError(jsonPath, `the path of column "${name}" is not of the form .status.id`)
  }
  if (steps[0] === '.metadata') {
    return // The apiserver's own schema.
  }
  let at: SchemaNode | undefined = schema
  for (const step of steps) {
    at = nodeBehind(step, at)
  }
  if (!at) {
    throw new SchemaError(jsonPath, `the path of column "${name}" leads to no field`)
  }
}

/** The schema behind `.name`, `[…]` of a list, or `['name','other']`: whichever the object has, all of one type. */
function nodeBehind(step: string, at: SchemaNode | undefined): SchemaNode | undefined {
  const names = step.startsWith('.') ? [step.slice(1)] : [...step.matchAll(/'([^']+)'/g)].map(([, name = '']) => name)
  if (names.length === 0) return at?.items ?? at?.additionalProperties
  const nodes = names.map((name) => at?.properties?.[name] ?? at?.additionalProperties)
  return nodes.some((node) => node === undefined) ? undefined : nodes[0]
}

const selectableTypes = new Set(['string', 'integer', 'boolean'])

/** The apiserver accepts no lists or maps along the path. */
function checkSelectable(jsonPath: string, schema: SchemaNode): void {
  const [before, ...names] = jsonPath.split('.')
  if (before !== '' || names[0] === 'metadata') {
    throw new SchemaError(jsonPath, 'the path of a selectable field is of the form .status.id, and not below .metadata')
  }
  let at: SchemaNode | undefined = schema
  for (const name of names) {
    at = at?.properties?.[name]
  }
  if (!selectableTypes.has(at?.type ?? '')) {
    throw new SchemaError(jsonPath, 'a selectable field has to be a text, an integer or a boolean of the schema')
  }
}

function checkDefaults(node: SchemaNode, path: string): void {
  if (node.default !== undefined) {
    const result = compileNode(node).validate(node.default)
    if (!result.ok) {
      const problems = result.errors.map((error) => error.message).join('; ')
      throw new SchemaError(path, `the default is refused by its own schema: ${problems}`)
    }
  }
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    checkDefaults(child, `${path}.${name}`)
  }
  const element = node.items ?? node.additionalProperties
  if (element) {
    checkDefaults(element, `${path}[]`)
  }
}
