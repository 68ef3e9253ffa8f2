import { configMapType, secretType } from '../../src/kube/core-types.ts'
import { REFUSED_FIELDS } from '../../src/kube/refused-fields.ts'
import type { ResourceType } from '../../src/kube/types.ts'
import { roleBindingType } from '../../src/managed/accounts/namespace-hold.ts'
import type { Descriptor } from '../../src/managed/descriptor/descriptor.ts'
import { LONGEST_TUNNEL_NAME } from '../../src/managed/descriptor/tunnel.ts'
import { SALT_SECRET } from '../../src/managed/inputs/salt.ts'
import { type KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import { GROUP, KEPT_KEY_PREFIX, MANAGED_BY, OUTPUT_OF } from '../../src/managed/names.ts'
import { type Permission, resourceOf, type Verb } from '../../src/managed/permissions.ts'
import { partKinds } from '../../src/managed/services/objects.ts'
import { SERVICE_READY, serviceType } from '../../src/managed/services/service.ts'
import { workloadTypes } from '../../src/managed/tunnels/tunnel-resource.ts'
import { leases } from '../../src/runtime/lease-lock.ts'
import { isAmong, list, text } from './cel-literals.ts'
import {
  holdPermission,
  metricsAuthenticationPermissions,
  ownNamespacePermissions,
  servicePermissions,
  tunnelPermissions,
  watchedPermissions,
} from './operator.ts'
import { type DescribedWrite, describedWrites } from './operator-writes.ts'
import type { Validation, Variable } from './policy-parts.ts'
import { problemsOf } from './shape.ts'

/**
 * The part of the policy for the operator's writes that is the same in every installation: `spec` without its
 * conditions and without the variables of `Installation`.
 */
export interface OperatorPolicy {
  readonly failurePolicy: 'Fail'
  readonly matchConstraints: object
  readonly variables: readonly Variable[]
  /** Each message is the predicate of a sentence about the operator. */
  readonly validations: readonly Validation[]
}

/** The parts that differ between installations, as CEL expressions. The chart inserts literals. */
export interface Installation {
  /** Whether a request comes from the operator. */
  readonly isOperator: string
  /** The operator's own namespace. */
  readonly home: string
  /** Names that its Leases may have. */
  readonly leases: string
  /** Name of the RoleBinding that it may hold in each watched namespace. */
  readonly hold: string
  /** The namespaces that it watches; an empty list: all. */
  readonly watched: string
  /** Further namespaces, as `name` or `prefix*`, into which no outputs may be written. */
  readonly protectedNamespaces: string
  /** Patterns of the domains that DNSEndpoints may publish; none without `--dns-endpoints`. */
  readonly dnsDomains: string
  /** Image of the agents of Tunnels; empty without `--tunnels`. */
  readonly agentImage: string
  /**
   * Classes of the Services of type LoadBalancer that it serves, none without `--services`; an empty text: those
   * without a class.
   */
  readonly serviceClasses: string
  /** Whether Tunnels may have templates (`--tunnel-templates`). */
  readonly templates: string
  /** Patterns of further images that these may name. */
  readonly agentImages: string
  /** Patterns of keys that the labels and annotations of agents' Pods may have by a template. */
  readonly metadataKeys: string
  /** Priority classes beginning with `system-` that a template may name. */
  readonly priorityClasses: string
  /** SSH gateways that agents connect to, as `host:port` or `*.suffix:port`. */
  readonly gateways: string
  /** Fields that mutating webhooks change in what the operator writes, as `deployments.spec.replicas`. */
  readonly extraFields: string
}

/** The `spec` of the ValidatingAdmissionPolicy of one installation. */
export function policySpec({ failurePolicy, matchConstraints, ...rules }: OperatorPolicy, installation: Installation) {
  const { isOperator, ...variables } = installation
  return {
    failurePolicy,
    matchConstraints,
    matchConditions: [{ name: 'operator', expression: isOperator }],
    variables: [
      ...Object.entries(variables).map(([name, expression]): Variable => ({ name, expression })),
      ...rules.variables,
    ],
    validations: rules.validations,
  }
}

/** Namespaces of Kubernetes itself: the control plane, or every node, acts on objects in them. */
const RESERVED = ['kube-system', 'kube-public', 'kube-node-lease']

/** Secrets that the operator keeps for itself in its own namespace: fixed names, and prefixes of the others. */
const OWN_SECRETS = { names: [SALT_SECRET], prefixes: [KEPT_KEY_PREFIX] }

/** Digits of the hash in the names of what a Service owns (`src/managed/services/objects.ts`). */
const HASH = '[0-9a-f]{10}'

/**
 * The rules by which the apiserver refuses writes that the operator never makes, whatever RBAC grants its
 * ServiceAccount: an allow list of operations, objects and fields. RBAC cannot distinguish Secrets by type or owner;
 * these rules can, for writes (docs/decisions/0030-admission-of-the-operator.md).
 */
export function operatorPolicy(kinds: KindsRegistry): OperatorPolicy {
  return {
    failurePolicy: 'Fail',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      resourceRules: [
        {
          apiGroups: ['*'],
          apiVersions: ['*'],
          operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
          resources: ['*/*'],
        },
      ],
    },
    variables: [...variablesOf(kinds), ...shapeVariables(describedWrites(kinds))],
    validations: [
      ...validations,
      ...companionValidations(kinds),
      {
        ...validation('writes only the fields that its description lists', [
          'object == null',
          'variables.problems.size() == 0',
        ]),
        messageExpression: `${text(REFUSED_FIELDS)} + variables.problems.map(each, request.resource.resource + '.' + each.replace(', ', ', ' + request.resource.resource + '.')).join(', ')`,
      },
    ],
  }
}

function variablesOf(kinds: KindsRegistry): readonly Variable[] {
  const patched = [...kinds.accounts, ...kinds.managed, ...kinds.composed].map((descriptor) =>
    nameOf(resourceTypeOf(descriptor)),
  )
  const tunnels = list(kinds.composed.map(({ definition }) => definition.kind))
  const parts = list(partKinds.map((kind) => nameOf(kinds.resourceType(kind))))
  const credentials = kinds.composed.flatMap((descriptor) => Object.values(descriptor.credentials))
  const ofTunnels = list([
    ...[secretType, ...workloadTypes].map(nameOf),
    ...credentials.map((kind) => nameOf(kinds.resourceType(kind))),
  ])
  const variables: Readonly<Record<string, string>> = {
    resource:
      "(request.resource.group == '' ? '' : request.resource.group + '/') + request.resource.resource" +
      " + (has(request.subResource) && request.subResource != '' ? '/' + request.subResource : '')",
    granted: list(operationsOf(kinds)),
    ownResources: list(patched),
    ownVersions: list([...new Set([...kinds.managed, ...kinds.composed].map(apiVersionOf))]),
    // The kinds that write outputs into each type of object.
    outputs: `{${[...outputKinds(kinds)].map(([resource, names]) => `${text(resource)}: ${list(names)}`).join(', ')}}`,
    name: '(object == null ? oldObject : object).metadata.name',
    note: `object == null ? '' : object.metadata.?annotations[?${text(OUTPUT_OF)}].orValue('')`,
    formerNote: `oldObject == null ? '' : oldObject.metadata.?annotations[?${text(OUTPUT_OF)}].orValue('')`,
    former: 'oldObject == null ? {} : oldObject',
    owners: 'object == null ? [] : object.metadata.?ownerReferences.orValue([])',
    formerOwners: 'variables.former.?metadata.?ownerReferences.orValue([])',
    formerFinalizers: 'variables.former.?metadata.?finalizers.orValue([])',
    // What decides is the owner that is stored.
    controllers:
      '(oldObject == null ? variables.owners : variables.formerOwners).filter(each, each.?controller.orValue(false))',
    owner: 'variables.controllers.size() == 1 ? variables.controllers[0] : {}',
    ownerKind: "variables.owner.?kind.orValue('')",
    ownerName: "variables.owner.?name.orValue('')",
    isPart:
      `variables.resource in ${parts} && variables.ownerKind == ${text(serviceType.kind)}` +
      ` && variables.owner.apiVersion == ${text(serviceType.version)}`,
    isOfTunnel:
      `variables.resource in ${ofTunnels} && variables.ownerKind in ${tunnels}` +
      ` && variables.owner.apiVersion.startsWith(${text(`${GROUP}/`)})`,
    isOwnSecret:
      `variables.resource == 'secrets' && request.namespace == variables.home && (variables.name in ${list(OWN_SECRETS.names)}` +
      ` || ${list(OWN_SECRETS.prefixes)}.exists(prefix, variables.name.startsWith(prefix)))`,
    isOutput: '(variables.resource in variables.outputs) && !variables.isOwnSecret',
    isProtected: `request.namespace in ${list(RESERVED)} || ${isAmong('request.namespace', 'variables.protectedNamespaces')}`,
    allowedExtras:
      "variables.extraFields.filter(each, each.startsWith(request.resource.resource + '.'))" +
      '.map(each, each.substring(request.resource.resource.size() + 1))',
  }
  return Object.entries(variables).map(([name, expression]) => ({ name, expression }))
}

/**
 * The fields of the object that differ from what is described, and from what is stored: `problems`. Descriptions that
 * are the same, such as those of most kinds, are one variable.
 */
function shapeVariables(writes: readonly DescribedWrite[]): readonly Variable[] {
  const conditions = new Map<string, string[]>()
  for (const { type, subresource, when, shape } of writes) {
    const resource = nameOf(type) + (subresource === undefined ? '' : `/${subresource}`)
    const is = `variables.resource == ${text(resource)}${when === undefined ? '' : ` && ${when}`}`
    const expression = problemsOf(shape)
    conditions.set(expression, [...(conditions.get(expression) ?? []), is])
  }
  const shapes = [...conditions].map(([expression, when], index) => ({
    name: `problems${index + 1}`,
    expression,
    when,
  }))
  const choice = shapes.map(
    ({ name, when }) => `${when.map((each) => `(${each})`).join(' || ')} ? variables.${name} : `,
  )
  return [
    ...shapes.map(({ name, expression }) => ({ name, expression })),
    { name: 'problems', expression: `${choice.join('')}['metadata']` },
  ]
}

/** An owner that an output has, under whichever version it was written. */
const isCulverts = (owner: string): string =>
  `${owner}.apiVersion.startsWith(${text(`${GROUP}/`)}) && ${owner}.kind in variables.outputs[variables.resource]`

const serviceStatus = `${nameOf(serviceType)}/status`

/** Whether a Service has the operator's condition. */
const isMarked = (service: string): string =>
  `${service}.?status.?conditions.orValue([]).exists(each, each.type == ${text(SERVICE_READY)})`
const ingressOf = (service: string): string => `${service}.?status.?loadBalancer.?ingress.orValue([])`

const validations: readonly Validation[] = [
  {
    ...validation('writes only what its own roles grant', [
      "(request.operation + ' ' + variables.resource) in variables.granted",
    ]),
    messageExpression: "'the operator of Culvert never does ' + request.operation + ' ' + variables.resource",
  },
  validation('writes only in the namespaces that it watches, apart from its Lease and its own Secrets', [
    `!has(request.namespace) || request.namespace == '' || variables.isOwnSecret || variables.resource == ${text(nameOf(leases))}`,
    'variables.watched.size() == 0',
    'request.namespace in variables.watched',
  ]),
  validation('writes no outputs and no objects of Tunnels or Services into protected namespaces', [
    `!(variables.isOutput || variables.isPart || variables.isOfTunnel || variables.resource == ${text(serviceStatus)})`,
    '!variables.isProtected',
  ]),
  validation('writes only Secrets of type Opaque', [
    "variables.resource != 'secrets'",
    "[object, oldObject].all(secret, secret == null || secret.?type.orValue('Opaque') == 'Opaque')",
  ]),
  validation('changes and deletes only outputs that a resource of Culvert owns or left behind', [
    '!variables.isOutput',
    'oldObject == null',
    `variables.formerOwners.exists(owner, ${isCulverts('owner')})`,
    "(variables.formerOwners.size() == 0 && variables.formerNote != '')",
  ]),
  validation(`notes on every output, in ${OUTPUT_OF}, which resource it belongs to`, [
    '!variables.isOutput',
    'object == null',
    "variables.outputs[variables.resource].exists(kind, variables.note.startsWith(kind + '/'))",
  ]),
  validation('creates outputs only with its label, and with that resource as their controlling owner', [
    '!variables.isOutput',
    "request.operation != 'CREATE'",
    `(object.metadata.?labels[?${text(MANAGED_BY)}].orValue('') == 'culvert' && variables.ownerKind + '/' + variables.ownerName == variables.note)`,
  ]),
  validation('writes only its own Lease', [
    `variables.resource != ${text(nameOf(leases))}`,
    '(request.namespace == variables.home && variables.name in variables.leases)',
  ]),
  validation('changes only the RoleBinding that it holds', [
    `variables.resource != ${text(nameOf(roleBindingType))}`,
    'variables.name == variables.hold',
  ]),
  validation(
    'creates and deletes no resources of its kinds, except the credentials of Tunnels and the objects of Services',
    [
      '!(variables.resource in variables.ownResources)',
      '(oldObject != null && object != null)',
      'variables.isPart',
      'variables.isOfTunnel',
    ],
  ),
  validation('names the objects of a Tunnel after the Tunnel', [
    '!variables.isOfTunnel',
    `(variables.resource in ${list(workloadTypes.map(nameOf))} ? variables.name == variables.ownerName + '-tunnel'` +
      " : variables.name.startsWith(variables.ownerName + '-tunnel-')" +
      " && variables.name.substring(variables.ownerName.size() + 8).matches('^(key|token)-[0-9]{1,9}$'))",
  ]),
  validation('names the objects of a Service after the Service', [
    '!variables.isPart',
    "(variables.name.startsWith(variables.ownerName + '-')" +
      ` && variables.name.substring(variables.ownerName.size() + 1).matches('^([0-9]{1,5}|${HASH})$'))`,
    // A long name is cut, and has a hash.
    `(variables.name.size() == ${LONGEST_TUNNEL_NAME} && variables.ownerName.startsWith(variables.name.substring(0, ${LONGEST_TUNNEL_NAME - 11}))` +
      ` && variables.name.substring(${LONGEST_TUNNEL_NAME - 11}).matches('^-${HASH}$'))`,
  ]),
  validation('runs agents only of a Tunnel, and only with an image of the administrator', [
    `!(variables.resource in ${list(workloadTypes.map(nameOf))})`,
    "(variables.isOfTunnel && variables.agentImage != '')",
  ]),
  validation('writes the status only of Services of its classes, and removes its own from Services that it served', [
    `variables.resource != ${text(serviceStatus)}`,
    'object == null',
    "(object.spec.?type.orValue('') == 'LoadBalancer' && object.spec.?loadBalancerClass.orValue('') in variables.serviceClasses" +
      ` && (has(object.spec.loadBalancerClass) || ${isMarked('oldObject')} || ${ingressOf('oldObject')}.size() == 0))`,
    `(${isMarked('oldObject')} && !${isMarked('object')} && (${ingressOf('object')}.size() == 0 || ${ingressOf('object')} == ${ingressOf('oldObject')}))`,
  ]),
]

function companionValidations(kinds: KindsRegistry): readonly Validation[] {
  const companions = new Map(
    kinds.managed.flatMap(({ companion }) => (companion ? [[nameOf(companion.type), companion]] : [])),
  )
  return [...companions].map(([resource, { admitted }]) => {
    return validation(admitted.message, [`variables.resource != ${text(resource)}`, 'object == null', admitted.rule])
  })
}

/** A validation that holds if any of the alternatives does. */
function validation(what: string, alternatives: readonly string[]): Validation {
  return {
    expression: alternatives.join(' || '),
    message: `the operator of Culvert ${what}`,
    reason: 'Forbidden',
  }
}

const OPERATIONS: Readonly<Partial<Record<Verb, string>>> = {
  create: 'CREATE',
  update: 'UPDATE',
  patch: 'UPDATE',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}

/** `CREATE secrets` and so on: every write that a rule of the operator grants in any installation. */
function operationsOf(kinds: KindsRegistry): readonly string[] {
  const permissions: readonly Permission[] = [
    ...watchedPermissions(kinds, { scope: 'cluster', watchSecrets: true, dnsEndpoints: true }),
    ...tunnelPermissions(kinds),
    ...servicePermissions(kinds),
    ...ownNamespacePermissions,
    ...metricsAuthenticationPermissions,
    holdPermission('any'),
  ]
  return permissions.flatMap((permission) => {
    const { group } = permission.type
    const resource = group === '' ? resourceOf(permission) : `${group}/${resourceOf(permission)}`
    return permission.verbs.flatMap((verb) => (OPERATIONS[verb] ? [`${OPERATIONS[verb]} ${resource}`] : []))
  })
}

/** Types of objects that outputs are written into, each with the kinds whose resources may own one. */
function outputKinds({ managed, composed }: KindsRegistry): ReadonlyMap<string, readonly string[]> {
  const found = managed.flatMap(({ definition: { kind }, output, companion }) => {
    const types = [
      ...(output === undefined ? [] : output.type === 'derived' ? [secretType, configMapType] : [secretType]),
      ...(companion === undefined ? [] : [companion.type]),
    ]
    return types.map((type) => ({ resource: nameOf(type), kind }))
  })
  const parts = composed.flatMap(({ definition: { kind } }) => {
    return [secretType, ...workloadTypes].map((type) => ({ resource: nameOf(type), kind }))
  })
  return new Map(
    [...Map.groupBy([...found, ...parts], ({ resource }) => resource)].map(([resource, all]) => [
      resource,
      all.map(({ kind }) => kind),
    ]),
  )
}

function apiVersionOf({ definition: { group, version } }: Pick<Descriptor, 'definition'>): string {
  return `${group}/${version}`
}

/** `group/plural`, or `plural` for the core group. */
function nameOf({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string {
  return group === '' ? plural : `${group}/${plural}`
}
