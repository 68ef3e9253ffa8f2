import type { ManagedDescriptor } from '../../src/managed/descriptor/descriptor.ts'
import type { ComposedDescriptor } from '../../src/managed/descriptor/tunnel.ts'
import type { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import { APPROVED_PLAN, FINALIZER } from '../../src/managed/names.ts'
import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { rootSchema } from '../crds/crd.ts'
import { list, text } from './cel-literals.ts'
import { type Validation, type Variable, writesOf } from './policy-parts.ts'

/** The parts of a ValidatingAdmissionPolicy's `spec` (admissionregistration.k8s.io/v1) that say what is refused. */
export interface AuthorPolicy {
  readonly failurePolicy: 'Fail'
  readonly matchConstraints: object
  readonly variables: readonly Variable[]
  readonly validations: readonly Validation[]
}

/** A field that names a Secret whose content is sent to the API: its path below `spec`. */
export type SecretField = readonly string[]

/**
 * The rules by which the apiserver requires that the author of a resource has the rights to do what the resource makes
 * the operator do in its namespace: read a Secret that it sends to the API, create the Secret, ConfigMap or DNSEndpoint
 * that it writes, or the Deployment whose Pods the resource describes. They apply when such a field is added or
 * changed, so that patches by controllers are admitted. To approve a plan, or to end the need to, an author needs the
 * verb `approve` for the resource: also to release its object, which could then be managed without plans. The chart
 * adds the variable `home`, the operator's own namespace, which contains the Secrets of ClusterAccounts.
 */
export function authorPolicy(kinds: KindsRegistry): AuthorPolicy {
  // Every managed kind may have a plan that waits for approval.
  const accounts = kinds.accounts.filter((descriptor) => secretFields(descriptor).length > 0)
  const asked = [...accounts, ...kinds.managed, ...kinds.composed]
  return {
    failurePolicy: 'Fail',
    matchConstraints: writesOf(asked),
    variables: [
      { name: 'now', expression: 'object.?spec.orValue({})' },
      { name: 'before', expression: 'oldObject == null ? {} : oldObject.?spec.orValue({})' },
      {
        name: 'place',
        expression: "has(request.namespace) && request.namespace != '' ? request.namespace : variables.home",
      },
      { name: 'isSentElsewhere', expression: DESTINATIONS.map(changed).join(' || ') },
    ],
    validations: [
      ...inputValidations(asked),
      ...outputValidations(kinds.managed),
      ...companionValidations(kinds.managed),
      ...podValidations(kinds.composed),
      ...approvalValidations(),
    ],
  }
}

/** Fields of a spec that decide, together with the one that names a Secret, who receives its content. */
const DESTINATIONS = ['accountRef', 'caBundle']

/** Every field of the kind's spec that names a Secret to be read, taken from its schema. */
export function secretFields({ definition }: Pick<ManagedDescriptor, 'definition'>): readonly SecretField[] {
  return fieldsIn(rootSchema(definition).properties?.spec)
}

/**
 * Searches objects only: CEL cannot check the members of a list one by one. @throws Error if members of a list name
 * Secrets
 */
function fieldsIn(node: SchemaNode | undefined): readonly SecretField[] {
  return Object.entries(node?.properties ?? {}).flatMap(([name, inner]): readonly SecretField[] => {
    if (namesSecret(name)) return [[name]]
    if (fieldsIn(inner.items).length > 0) throw new Error(`${name}: members of a list name Secrets`)
    return fieldsIn(inner).map((rest) => [name, ...rest])
  })
}

function namesSecret(field: string): boolean {
  return field === 'secretKeyRef' || field.endsWith('SecretRef')
}

function inputValidations(asked: readonly Pick<ManagedDescriptor, 'definition'>[]): readonly Validation[] {
  const fields = new Map(asked.flatMap(secretFields).map((field) => [field.join('.'), field]))
  return [...fields].map(([path, field]) => {
    const [member = ''] = field
    const ref = `variables.now${field.map((name) => `.?${name}`).join('')}`
    const secret = `variables.now.${path}.name`
    return validation({
      isAsked: `${ref}.hasValue() && (variables.isSentElsewhere || ${changed(member)})`,
      check: `authorizer.group('').resource('secrets').namespace(variables.place).name(${secret}).check('get')`,
      field: `spec.${path}`,
      right: { text: 'get Secret', name: secret },
    })
  })
}

function outputValidations(managed: readonly ManagedDescriptor[]): readonly Validation[] {
  // If the spec does not name a Secret, the token is written to one with the resource's own name.
  const tokens = managed.filter(({ output }) => output?.type === 'one-time').map(({ definition }) => definition.kind)
  const named = (member: string) => `variables.now.?output.?${member}.hasValue() && ${changed('output')}`
  const untold = `request.kind.kind in ${list(tokens)} && (oldObject == null || ${changed('output')})`
  const check = (plural: string) =>
    `authorizer.group('').resource('${plural}').namespace(variables.place).check('create')`
  return [
    validation({
      isAsked: `(${named('secret')}) || (${untold})`,
      check: check('secrets'),
      field: 'spec.output.secret',
      right: { text: 'create Secrets' },
    }),
    validation({
      isAsked: named('configMap'),
      check: check('configmaps'),
      field: 'spec.output.configMap',
      right: { text: 'create ConfigMaps' },
    }),
  ]
}

function companionValidations(managed: readonly ManagedDescriptor[]): readonly Validation[] {
  const companions = new Map(
    managed.flatMap(({ companion }) => (companion ? [[companion.type.kind, companion] as const] : [])),
  )
  return [...companions.values()].map(({ type, fields: { asks, names } }) => {
    const flag = `variables.now${asks.map((name) => `.?${name}`).join('')}`
    const former = `variables.before${asks.map((name) => `.?${name}`).join('')}`
    return validation({
      isAsked: `${flag}.orValue(false) && (${[`!${former}.orValue(false)`, ...names.map(changed)].join(' || ')})`,
      check: `authorizer.group('${type.group}').resource('${type.plural}').namespace(variables.place).check('create')`,
      field: `spec.${asks.join('.')}`,
      right: { text: `create ${type.kind}s` },
    })
  })
}

/** What decides which Pods the operator makes, in the namespace of the resource. */
const POD_FIELDS = ['template', 'agent']

function podValidations(composed: readonly ComposedDescriptor[]): readonly Validation[] {
  const names = list(composed.map(({ definition }) => definition.kind))
  return POD_FIELDS.map((field) =>
    validation({
      isAsked: `request.kind.kind in ${names} && variables.now.?${field}.hasValue() && ${changed(field)}`,
      check: "authorizer.group('apps').resource('deployments').namespace(variables.place).check('create')",
      field: `spec.${field}`,
      right: { text: 'create Deployments' },
    }),
  )
}

function approvalValidations(): readonly Validation[] {
  const approved = (object: string): string => `${object}.metadata.?annotations[?${text(APPROVED_PLAN)}]`
  const policy = (spec: string): string => `variables.${spec}.?managementPolicy.orValue('')`
  // Like `retains`: an adopted object stays by default.
  const retains = (spec: string, object: string): string => {
    const adopted = `${object}.?status.?adopted.orValue(variables.${spec}.?externalID.hasValue())`
    return `variables.${spec}.?deletionPolicy.orValue(${adopted} ? 'Retain' : 'Delete') == 'Retain'`
  }
  const releases = (spec: string, object: string): string => {
    return `(${policy(spec)} == 'Plan' && ${retains(spec, object)})`
  }
  const isHeld = (object: string): string => `${text(FINALIZER)} in ${object}.metadata.?finalizers.orValue([])`
  return [
    approvalValidation({
      isAsked: `${approved('object')}.hasValue() && (oldObject == null || ${approved('object')} != ${approved('oldObject')})`,
      field: `metadata.annotations: ${APPROVED_PLAN}`,
    }),
    approvalValidation({
      isAsked: `${policy('before')} == 'Plan' && ${policy('now')} != 'Plan'`,
      field: 'spec.managementPolicy',
    }),
    approvalValidation({
      isAsked: `${releases('now', 'object')} && !${releases('before', 'oldObject')}`,
      field: 'spec.deletionPolicy',
    }),
    approvalValidation({
      // Operators, of whatever release, are the only ones who may write the status.
      isAsked: `${policy('before')} == 'Plan' && ${isHeld('oldObject')} && !(${isHeld('object')}) && !${checkOf('patch', 'status')}.allowed()`,
      field: 'metadata.finalizers',
    }),
  ]
}

function approvalValidation({ isAsked, field }: Pick<Demand, 'isAsked' | 'field'>): Validation {
  return validation({
    isAsked,
    check: checkOf('approve'),
    field,
    right: { text: 'approve plans of this resource' },
  })
}

/** The check of a right to the resource itself, or to a subresource. */
function checkOf(verb: string, subresource?: string): string {
  const resource = 'authorizer.group(request.resource.group).resource(request.resource.resource)'
  const part = subresource === undefined ? '' : `.subresource(${text(subresource)})`
  return `${resource}${part}.namespace(variables.place).name(object.metadata.name).check(${text(verb)})`
}

/** Whether a member of the spec differs from before. */
function changed(member: string): string {
  return `variables.now.?${member} != variables.before.?${member}`
}

interface Demand {
  /** Whether the request makes the operator do something. */
  readonly isAsked: string
  /** The permission that the author needs for that. */
  readonly check: string
  readonly field: string
  /** The same in words; `name` is a CEL expression. */
  readonly right: { readonly text: string; readonly name?: string }
}

function validation({ isAsked, check, field, right: { text, name } }: Demand): Validation {
  const remedy = 'ask for that right, or let someone who has it apply this'
  const object = name === undefined ? "'" : ` ' + ${name} + '`
  return {
    expression: `!(${isAsked}) || ${check}.allowed()`,
    message: `${field}: its author may not ${text}: ${remedy}`,
    messageExpression: `'${field}: ' + request.userInfo.username + ' may not ${text}${object}${name === undefined ? " + '" : ''} in namespace ' + variables.place + ': ${remedy}'`,
    reason: 'Forbidden',
  }
}
