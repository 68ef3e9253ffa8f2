import type { ResourceType } from '../../src/kube/types.ts'
import { KEPT_KEY_PREFIX } from '../../src/managed/accounts/kept-key.ts'
import { roleBindingType } from '../../src/managed/delete/namespace-hold.ts'
import type { ManagedDescriptor } from '../../src/managed/descriptor/descriptor.ts'
import { configMapType, secretType } from '../../src/managed/inputs/inputs.ts'
import { SALT_SECRET } from '../../src/managed/inputs/salt.ts'
import { type KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import { CREATE_ATTEMPT, FINALIZER, GROUP, MANAGED_BY, OUTPUT_OF, REMOTE_ID } from '../../src/managed/names.ts'
import { type Permission, resourceOf, type Verb } from '../../src/managed/permissions.ts'
import { partKinds } from '../../src/managed/services/objects.ts'
import { SERVICE_READY, serviceType } from '../../src/managed/services/service.ts'
import { deploymentType, serviceAccountType, workloadTypes } from '../../src/managed/tunnels/tunnel.ts'
import { EVENT_SOURCE, events } from '../../src/runtime/events.ts'
import { leases } from '../../src/runtime/lease-lock.ts'
import { list, text } from './cel-literals.ts'
import {
  holdPermission,
  metricsAuthenticationPermissions,
  ownNamespacePermissions,
  servicePermissions,
  tunnelPermissions,
  watchedPermissions,
} from './operator.ts'
import type { Validation, Variable } from './policy-parts.ts'

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
  /** Classes of the Services of type LoadBalancer that it serves; an empty text: those without a class. */
  readonly serviceClasses: string
  /** Whether Tunnels may have templates (`--tunnel-templates`). */
  readonly templates: string
  /** Patterns of further images that these may name. */
  readonly agentImages: string
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

/** Annotations of resources that the operator writes. */
const OWN_ANNOTATIONS = [REMOTE_ID, CREATE_ATTEMPT]

/**
 * The rules by which the apiserver refuses writes that the operator never makes, whatever RBAC grants its
 * ServiceAccount. RBAC cannot distinguish Secrets by type or owner; these rules can, for writes
 * (docs/decisions/0030-admission-of-the-operator.md).
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
    variables: variablesOf(kinds),
    validations: [...validations, ...partValidations(kinds), ...companionValidations(kinds)],
  }
}

function variablesOf(kinds: KindsRegistry): readonly Variable[] {
  const patched = [...kinds.accounts, ...kinds.managed, ...kinds.composed].map((descriptor) =>
    nameOf(resourceTypeOf(descriptor)),
  )
  const variables: Readonly<Record<string, string>> = {
    resource:
      "(request.resource.group == '' ? '' : request.resource.group + '/') + request.resource.resource" +
      " + (has(request.subResource) && request.subResource != '' ? '/' + request.subResource : '')",
    granted: list(operationsOf(kinds)),
    ownResources: list(patched),
    ownVersions: list([...new Set(kinds.managed.map(apiVersionOf))]),
    // The kinds that write outputs into each type of object.
    outputs: `{${[...outputKinds(kinds)].map(([resource, names]) => `${text(resource)}: ${list(names)}`).join(', ')}}`,
    name: '(object == null ? oldObject : object).metadata.name',
    note: `object == null ? '' : object.metadata.?annotations[?${text(OUTPUT_OF)}].orValue('')`,
    formerNote: `oldObject == null ? '' : oldObject.metadata.?annotations[?${text(OUTPUT_OF)}].orValue('')`,
    owners: 'object == null ? [] : object.metadata.?ownerReferences.orValue([])',
    formerOwners: 'oldObject == null ? [] : oldObject.metadata.?ownerReferences.orValue([])',
    finalizers: 'object == null ? [] : object.metadata.?finalizers.orValue([])',
    formerFinalizers: 'oldObject == null ? [] : oldObject.metadata.?finalizers.orValue([])',
    annotations: 'object == null ? {} : object.metadata.?annotations.orValue({})',
    formerAnnotations: 'oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})',
    isOwnSecret:
      `variables.resource == 'secrets' && request.namespace == variables.home && (variables.name in ${list(OWN_SECRETS.names)}` +
      ` || ${list(OWN_SECRETS.prefixes)}.exists(prefix, variables.name.startsWith(prefix)))`,
    isOutput: '(variables.resource in variables.outputs) && !variables.isOwnSecret',
    isProtected:
      `request.namespace in ${list(RESERVED)} || variables.protectedNamespaces.exists(place, place.endsWith('*')` +
      ` ? request.namespace.startsWith(place.substring(0, place.size() - 1)) : request.namespace == place)`,
    areFinalizersKept:
      `variables.finalizers.filter(each, each != ${text(FINALIZER)})` +
      ` == variables.formerFinalizers.filter(each, each != ${text(FINALIZER)})`,
    isMetadataKept: [
      'object.metadata.?labels.orValue({}) == oldObject.metadata.?labels.orValue({})',
      'variables.owners == variables.formerOwners',
      `variables.annotations.all(key, key in ${list(OWN_ANNOTATIONS)} || (key in variables.formerAnnotations` +
        ` && variables.formerAnnotations[key] == variables.annotations[key]))`,
      `variables.formerAnnotations.all(key, key in ${list(OWN_ANNOTATIONS)} || key in variables.annotations)`,
      'variables.areFinalizersKept',
    ].join(' && '),
  }
  return Object.entries(variables).map(([name, expression]) => ({ name, expression }))
}

/**
 * An owner that an output may get: the garbage collector collects what a made-up owner has only if it knows the type.
 */
const isNewOwner = (owner: string): string =>
  `${owner}.apiVersion in variables.ownVersions && ${owner}.kind in variables.outputs[variables.resource]`

/** An owner that an output has, under whichever version it was written. */
const isCulverts = (owner: string): string =>
  `${owner}.apiVersion.startsWith(${text(`${GROUP}/`)}) && ${owner}.kind in variables.outputs[variables.resource]`

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
  validation('writes no outputs into protected namespaces', ['!variables.isOutput', '!variables.isProtected']),
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
    `(object.metadata.?labels[?${text(MANAGED_BY)}].orValue('') == 'culvert' && variables.owners.exists(owner,` +
      ` owner.?controller.orValue(false) && owner.kind + '/' + owner.name == variables.note))`,
  ]),
  validation('gives outputs only resources of Culvert as owners, and no finalizers', [
    '!variables.isOutput',
    'object == null',
    `(variables.owners.all(owner, owner in variables.formerOwners || (${isNewOwner('owner')}))` +
      ' && variables.finalizers == variables.formerFinalizers)',
  ]),
  validation('labels its own Secrets, and gives them neither owners nor finalizers', [
    '!variables.isOwnSecret',
    'object == null',
    `(object.metadata.?labels[?${text(MANAGED_BY)}].orValue('') == 'culvert' && variables.owners == variables.formerOwners` +
      ' && variables.finalizers == variables.formerFinalizers)',
  ]),
  validation('writes only its own Lease', [
    `variables.resource != ${text(nameOf(leases))}`,
    '(request.namespace == variables.home && variables.name in variables.leases)',
  ]),
  validation('records Events only in its own name, and only about resources of Culvert and Services', [
    `variables.resource != ${text(nameOf(events))}`,
    `(object.?reportingController.orValue('') == ${text(EVENT_SOURCE)}` +
      ` && (object.?regarding.?apiVersion.orValue('').startsWith(${text(`${GROUP}/`)})` +
      ` || (object.?regarding.?apiVersion.orValue('') == ${text(serviceType.version)}` +
      ` && object.?regarding.?kind.orValue('') == ${text(serviceType.kind)})))`,
  ]),
  validation('changes only its own finalizer of RoleBindings, and only on the one that it holds', [
    `variables.resource != ${text(nameOf(roleBindingType))}`,
    '(variables.name == variables.hold && variables.isMetadataKept' +
      ' && object.?subjects.orValue([]) == oldObject.?subjects.orValue([]) && object.roleRef == oldObject.roleRef)',
  ]),
]

/** Resources that people write, and what Tunnels and Services consist of. */
function partValidations(kinds: KindsRegistry): readonly Validation[] {
  const credentials = kinds.composed.flatMap((descriptor) => Object.values(descriptor.credentials))
  const parts = list(credentials.map((kind) => nameOf(kinds.resourceType(kind))))
  const owners = list(kinds.composed.map(({ definition }) => definition.kind))
  const isTunnel = `owner.kind in ${owners} && owner.apiVersion.startsWith(${text(`${GROUP}/`)})`
  const ofServices = list(partKinds.map((kind) => nameOf(kinds.resourceType(kind))))
  const isService = `owner.kind == ${text(serviceType.kind)} && owner.apiVersion == ${text(serviceType.version)}`
  return [
    validation(
      'changes only its own finalizer and annotations, and the status, of the resources that people write, except for credentials that a Tunnel owns and what a Service owns',
      [
        '!(variables.resource in variables.ownResources)',
        '(oldObject != null && object != null && variables.isMetadataKept' +
          ' && object.?spec.orValue({}) == oldObject.?spec.orValue({}))',
        `(variables.resource in ${parts} && ${isPartOf(isTunnel)})`,
        `(variables.resource in ${ofServices} && ${isPartOf(isService)})`,
      ],
    ),
    validation('says only of Services of its classes where they are reached', [
      `variables.resource != ${text(`${nameOf(serviceType)}/status`)}`,
      "object.spec.?loadBalancerClass.orValue('') in variables.serviceClasses",
      'object.status.?loadBalancer == oldObject.status.?loadBalancer',
      // One that is no longer of a load balancer is reached nowhere.
      "(object.spec.type != 'LoadBalancer' && object.status.?loadBalancer.?ingress.orValue([]).size() == 0)",
    ]),
    validation('changes only its own condition of Services', [
      `variables.resource != ${text(`${nameOf(serviceType)}/status`)}`,
      `${othersConditions('object')} == ${othersConditions('oldObject')}`,
    ]),
    validation('makes only ServiceAccounts whose token no Pod gets', [
      `variables.resource != ${text(nameOf(serviceAccountType))}`,
      'object == null',
      'object.?automountServiceAccountToken.orValue(true) == false',
    ]),
    ...agentValidations,
  ]
}

const pod = 'object.spec.template.spec'
const containers = `${pod}.containers`
const isDeployment = `variables.resource == ${text(nameOf(deploymentType))} && object != null`

/**
 * What the Pods of agents may be. The templates of Tunnels make no exception: they have no field for anything else
 * (docs/decisions/0045-templates-of-agents.md).
 */
const agentValidations: readonly Validation[] = [
  validation('runs only agents, by images of the administrator', [
    `!(${isDeployment})`,
    `(${[
      "variables.agentImage != ''",
      `!has(${pod}.initContainers)`,
      `${containers}.all(each, each.image == variables.agentImage || (variables.templates` +
        " && variables.agentImages.exists(pattern, pattern.endsWith('*')" +
        ' ? each.image.startsWith(pattern.substring(0, pattern.size() - 1)) : each.image == pattern)))',
    ].join(' && ')})`,
  ]),
  validation('gives agents no token, nothing of the host, and no rights beyond the standard restricted', [
    `!(${isDeployment})`,
    `(${[
      `${pod}.?serviceAccountName.orValue('') == variables.name`,
      `${pod}.?automountServiceAccountToken.orValue(true) == false`,
      ...['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'].map(
        (field) => `!${pod}.?${field}.orValue(false)`,
      ),
      `${pod}.?securityContext.?runAsNonRoot.orValue(false)`,
      `${pod}.?securityContext.?seccompProfile.?type.orValue('') == 'RuntimeDefault'`,
      `${containers}.all(each, ${[
        'each.?securityContext.?allowPrivilegeEscalation.orValue(true) == false',
        '!each.?securityContext.?privileged.orValue(false)',
        'each.?securityContext.?runAsNonRoot.orValue(true)',
        '!each.?securityContext.?seccompProfile.hasValue()',
        '!each.?securityContext.?windowsOptions.hasValue()',
        "each.?securityContext.?capabilities.?drop.orValue([]) == ['ALL']",
        'each.?securityContext.?capabilities.?add.orValue([]).size() == 0',
        'each.?ports.orValue([]).all(port, port.?hostPort.orValue(0) == 0)',
      ].join(' && ')})`,
    ].join(' && ')})`,
  ]),
  validation('gives agents no Secrets but keys, and the token that a Tunnel has', [
    `!(${isDeployment})`,
    `(${[
      `${pod}.?volumes.orValue([]).all(each, has(each.secret) || (variables.templates && (has(each.configMap) || has(each.emptyDir))))`,
      `${containers}.all(each, !has(each.envFrom) && each.?env.orValue([]).all(one,` +
        " !one.?valueFrom.?secretKeyRef.hasValue() || one.valueFrom.secretKeyRef.name.startsWith(variables.name + '-token-')))",
    ].join(' && ')})`,
  ]),
]

/**
 * Whether what is written belongs to an owner of which `isOwner` holds: it is created with that controller, and a later
 * write leaves its owners alone. Neither gives or takes a finalizer of somebody else.
 */
function isPartOf(isOwner: string): string {
  const made = `owner.?controller.orValue(false) && ${isOwner} && owner.kind + '/' + owner.name == variables.note`
  const owned = `owner.?controller.orValue(false) && ${isOwner}`
  return (
    `(oldObject == null ? variables.owners.exists(owner, ${made}) : variables.formerOwners.exists(owner, ${owned})` +
    ' && (object == null || (variables.owners == variables.formerOwners && variables.areFinalizersKept)))'
  )
}

/** The conditions of a Service that are not Culvert's. */
function othersConditions(service: string): string {
  return `${service}.?status.?conditions.orValue([]).filter(each, each.type != ${text(SERVICE_READY)})`
}

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

function apiVersionOf({ definition: { group, version } }: ManagedDescriptor): string {
  return `${group}/${version}`
}

/** `group/plural`, or `plural` for the core group. */
function nameOf({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string {
  return group === '' ? plural : `${group}/${plural}`
}
