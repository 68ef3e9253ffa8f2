import { configMapType, namespaceType, SYSTEM_NAMESPACE, secretType } from '../../src/kube/core-types.ts'
import { subjectAccessReviews, tokenReviews } from '../../src/kube/reviews.ts'
import { pods } from '../../src/kube/streams.ts'
import type { ResourceType } from '../../src/kube/types.ts'
import { roleBindingType } from '../../src/managed/accounts/namespace-hold.ts'
import type { Descriptor } from '../../src/managed/descriptor/descriptor.ts'
import { type KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import type { Permission, Verb } from '../../src/managed/permissions.ts'
import { partKinds } from '../../src/managed/services/objects.ts'
import { serviceType } from '../../src/managed/services/service.ts'
import { workloadTypes } from '../../src/managed/tunnels/tunnel-resource.ts'
import { events } from '../../src/runtime/events.ts'
import { leases } from '../../src/runtime/lease-lock.ts'

/** The permissions that the operator needs, each with its reason. The chart's roles are generated from them. */

export interface Reach {
  /** The whole cluster, by a ClusterRole; or some namespaces, by a Role in each. */
  readonly scope: 'cluster' | 'namespace'
  /** Whether Secrets and ConfigMaps are watched, or only read one by one. */
  readonly watchSecrets: boolean
  /** Whether the DNSEndpoints that resources ask for are created (`--dns-endpoints`). */
  readonly dnsEndpoints: boolean
}

/** Permissions of the operator in the cluster, or in each namespace that it watches. */
export function watchedPermissions(
  kinds: KindsRegistry,
  { scope, watchSecrets, dnsEndpoints }: Reach,
): readonly Permission[] {
  const { accounts, managed, mirrors, commands, composed } = kinds
  const all: readonly Descriptor[] = [...accounts, ...managed, ...mirrors, ...commands, ...composed]
  const served = all.filter(({ definition }) => scope === 'cluster' || definition.scope === 'Namespaced')
  return [
    ...served.flatMap(kindPermissions),
    ...dataPermissions(kinds, watchSecrets ? WATCH : []),
    ...(dnsEndpoints ? companionPermissions(kinds) : []),
    { type: events, verbs: ['create'], why: 'Events tell people what happened to a resource.' },
    ...(scope === 'cluster' ? [namespacesPermission, installationPermission] : []),
  ]
}

/** Permissions of the operator in its own namespace, whatever else it watches. */
export const ownNamespacePermissions: readonly Permission[] = [
  {
    type: leases,
    verbs: ['get', 'watch', 'create', 'patch'],
    why: 'Of several operators, only the holder of the Lease works; the others watch it to notice at once when it is released. Operators that divide accounts read that of another that may be dead.',
  },
  {
    type: secretType,
    // An apply that creates the object needs create as well.
    verbs: ['get', 'create', 'patch', 'delete'],
    why: 'The last working key of each account is kept here, so that a namespace whose Secrets are gone can still be deleted; and the salt of all fingerprints.',
  },
]

/**
 * To read the UID that identifies this installation in the marker of objects at the API. Not needed with
 * `--installation`.
 */
export const installationPermission: Permission = {
  type: namespaceType,
  verbs: ['get'],
  names: [SYSTEM_NAMESPACE],
  why: 'Its UID stands for the cluster in the mark on objects at the API; not needed with `--installation`.',
}

/**
 * To ask the apiserver who may read the metrics. Granted in the whole cluster, whatever the operator watches: reviews
 * are not namespaced.
 */
export const metricsAuthenticationPermissions: readonly Permission[] = [
  { type: tokenReviews, verbs: ['create'], why: 'Says whose the token is that a reader of metrics shows.' },
  {
    type: subjectAccessReviews,
    verbs: ['create'],
    why: 'Says whether its owner may `get` the non-resource URL `/metrics`.',
  },
]

/** To hold the RoleBinding of that name in a namespace (docs/decisions/0021-namespaces-that-go.md). */
export function holdPermission(name: string): Permission {
  return {
    type: roleBindingType,
    verbs: ['get', 'patch'],
    names: [name],
    why: 'It has a finalizer as long as a resource of its namespace has one, so that the operator keeps the rights it needs to finish the deletion of the namespace.',
  }
}

const namespacesPermission: Permission = {
  type: namespaceType,
  verbs: ['list', 'watch'],
  why: 'The labels of a namespace decide which ClusterAccounts it may use. Metadata only.',
}

const WATCH: readonly Verb[] = ['list', 'watch']

function kindPermissions(descriptor: Descriptor): readonly Permission[] {
  const type = resourceTypeOf(descriptor)
  return [
    { type, ...objectsOf[descriptor.role] },
    { type, subresource: 'status', verbs: ['patch'], why: 'The status shows the state of the resource.' },
  ]
}

/**
 * Permissions for the resources themselves. Since owner references do not set `blockOwnerDeletion`, the `finalizers`
 * subresource is not needed.
 */
const objectsOf: Readonly<Record<Descriptor['role'], Pick<Permission, 'verbs' | 'why'>>> = {
  managed: {
    verbs: ['get', 'list', 'watch', 'patch'],
    why: 'They declare the objects at the API. Finalizer and annotations are patched; after a write conflict the resource is read again.',
  },
  account: {
    verbs: ['get', 'list', 'watch', 'patch'],
    why: 'They say which account to use. The finalizer is patched; after a write conflict, and before a first create in the account of the whole cluster, the resource is read again.',
  },
  mirror: {
    verbs: ['list', 'watch', 'create', 'patch', 'delete'],
    why: 'They show the objects of an account, and Culvert alone creates, changes and deletes them.',
  },
  composed: {
    verbs: ['list', 'watch'],
    why: 'They say what to make; what they consist of needs `--tunnels`.',
  },
  command: {
    verbs: ['get', 'list', 'watch', 'delete'],
    why: 'They say what to do. Those with `ttlAfterFinished` are deleted; after a write conflict the resource is read again.',
  },
}

/** Secrets and ConfigMaps: account keys and inputs are read; outputs are created, changed and deleted. */
function dataPermissions(kinds: KindsRegistry, watch: readonly Verb[]): readonly Permission[] {
  const outputs = kinds.managed.flatMap(({ output }) => (output === undefined ? [] : [output.type]))
  const of = (type: ResourceType, what: string, isOutput: boolean): readonly Permission[] => [
    { type, verbs: ['get'], why: `${what} are read when they are needed.` },
    ...(isOutput
      ? [
          {
            type,
            verbs: ['create', 'patch', 'delete'] as const,
            why: 'Outputs of resources go into them. Only what a resource owns is changed or deleted.',
          },
        ]
      : []),
    ...(watch.length > 0
      ? [{ type, verbs: watch, why: 'Changes are noticed at once. Metadata only; not with `--no-watch-secrets`.' }]
      : []),
  ]
  return [
    ...of(secretType, 'Keys of accounts, and inputs of resources,', outputs.length > 0),
    ...of(configMapType, 'Inputs of resources', outputs.includes('derived')),
  ]
}

/** Companions: objects of other operators' types, in the watched namespaces, with `--dns-endpoints` only. */
export function companionPermissions(kinds: KindsRegistry): readonly Permission[] {
  const types = new Map(kinds.managed.flatMap(({ companion }) => (companion ? [[companion.type.kind, companion]] : [])))
  return [...types.values()].map(({ type }) => ({
    type,
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: `Resources that ask for a ${type.kind}, and that the administrator allows one, have it.`,
  }))
}

/** What Tunnels consist of, in the watched namespaces, with `--tunnels` only. */
export function tunnelPermissions(kinds: KindsRegistry): readonly Permission[] {
  const credentials = kinds.composed.flatMap((descriptor) => {
    return Object.values(descriptor.credentials).map((kind) => kinds.resourceType(kind))
  })
  const write: readonly Verb[] = ['create', 'patch', 'delete']
  return [
    ...workloadTypes.map((type) => ({
      type,
      verbs: ['get', 'list', 'watch', 'create', 'patch'] as const,
      why: 'They run the agents of a Tunnel, which owns them: the garbage collector deletes them with it.',
    })),
    ...kinds.composed.map((descriptor) => ({
      type: resourceTypeOf(descriptor),
      verbs: ['get'] as const,
      why: 'A Tunnel is read before something that it owns, and that vanished, is made again.',
    })),
    ...credentials.map((type) => ({ type, verbs: write, why: 'A Tunnel owns the credential of its agents.' })),
    { type: secretType, verbs: ['get', ...write], why: 'A Tunnel owns the key of its agents.' },
    { type: pods, verbs: ['list'], why: 'Agents that gave up say why; listed while not all are connected.' },
  ]
}

/** Services of type LoadBalancer and what they consist of, in the watched namespaces, with `--services` only. */
export function servicePermissions(kinds: KindsRegistry): readonly Permission[] {
  return [
    {
      type: serviceType,
      verbs: ['get', 'list', 'watch'],
      why: 'Those of type LoadBalancer and of class `culvert.dev/edge` say what to make. One that is no longer of that type is read.',
    },
    { type: serviceType, subresource: 'status', verbs: ['patch'], why: 'It shows where the Service is reached.' },
    ...partKinds.map((kind) => ({
      type: kinds.resourceType(kind),
      verbs: ['get', 'create', 'patch', 'delete'] as const,
      why: 'A Service owns what makes it reachable.',
    })),
  ]
}
