import { namespaceType } from '../../kube/core-types.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type AccountKey, type AccountResource, accountKey, keyOfAccount } from '../../managed/account-resource.ts'
import {
  type CustomResource,
  internalOf,
  isDeleting,
  nameOf,
  nameText,
  type ResourceName,
  statusOf,
} from '../../managed/cr.ts'
import { type KindsRegistry, resourceTypeOf } from '../../managed/kinds-registry.ts'
import { markerOf } from '../../managed/markers/marker.ts'
import { accountOf } from '../../managed/references/account-choice.ts'
import type { Manifest } from '../manifests.ts'
import type { DryAccount } from './dry-account.ts'
import { type DryCluster, typesByKind } from './dry-cluster.ts'
import type { LiveCluster } from './live-cluster.ts'
import { accountNamed } from './live-cluster.ts'
import { choicesIn, PlanError, type PlannedResource } from './scene.ts'

/** Puts what the real cluster has into the one in memory. */
export function putLive(kinds: KindsRegistry, cluster: DryCluster, live: LiveCluster): void {
  const types = typesByKind(kinds)
  for (const object of [...live.resources, ...live.accounts]) {
    const type = types.get(object.kind)
    if (type !== undefined) cluster.put(type, object)
  }
  for (const namespace of live.namespaces) cluster.put(namespaceType, namespace)
}

/** The spec that a manifest would replace. */
export function formerSpec(kinds: KindsRegistry, cluster: DryCluster, manifest: Manifest, namespace: string): unknown {
  const type = typesByKind(kinds).get(manifest.kind)
  if (type === undefined) return undefined
  const key = type.namespaced
    ? { name: manifest.metadata.name, namespace: manifest.metadata.namespace ?? namespace }
    : manifest.metadata
  return cluster.known<KubeObject>(type, key)?.spec
}

/** The installation whose mark the objects of the cluster's resources carry; a new one if there are none. */
export async function installationOfCluster(
  kinds: KindsRegistry,
  account: DryAccount,
  live: LiveCluster,
): Promise<string> {
  for (const cr of live.resources) {
    const { id, adopted } = statusOf(cr)
    const descriptor = kinds.managedKind(cr.kind)
    if (id === undefined || adopted === true || internalOf(cr).create === undefined || descriptor === undefined)
      continue
    const object = await account.get(descriptor.identity.collectionOf(cr.spec), id)
    const marker = object && markerOf(object)
    if (marker?.uid === cr.metadata.uid) return marker.installation
  }
  return 'plan'
}

/**
 * For which accounts the plan is made.
 * @param asked the account that was asked for; undefined: every one
 * @throws PlanError if resources use accounts with several addresses and none was asked for
 */
export function accountFilter(
  kinds: KindsRegistry,
  cluster: DryCluster,
  resources: readonly PlannedResource[],
  asked: string | undefined,
): (account: AccountKey) => boolean {
  const accounts = [...cluster.watches.accounts.values()].flatMap(({ store }) => store.list())
  if (asked !== undefined) {
    const [first] = resources
    const wanted = keyOfAccount(accountNamed(accounts, asked, first?.name.namespace ?? ''))
    return ({ kind, name, namespace }) => kind === wanted.kind && name === wanted.name && namespace === wanted.namespace
  }
  const used = accountsUsed(kinds, cluster, resources)
  const addresses = new Set(used.map(({ spec }) => spec.baseURL))
  if (addresses.size <= 1) return () => true
  const names = used.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', ')
  throw new PlanError(`the resources are in accounts with different addresses (${names}): choose one with --account`)
}

function accountsUsed(kinds: KindsRegistry, cluster: DryCluster, resources: readonly PlannedResource[]) {
  const choices = choicesIn(cluster, kinds)
  const used = new Map<string, AccountResource>()
  for (const { name } of resources) {
    const cr = choices.resources.get(name)
    const account = cr && accountOf(choices, cr)
    if (cr === undefined || account === undefined) continue
    const key = accountKey(account, cr.metadata.namespace ?? '')
    const resource = cluster.known<AccountResource>(kinds.accountType(key.kind), key)
    if (resource !== undefined) used.set(resource.metadata.uid, resource)
  }
  return [...used.values()]
}

/**
 * Deletes the resources that the cluster has in the namespaces of the manifests and that these lack, as far as their
 * accounts are planned and no other object owns them. @returns their names
 */
export function pruneMissing(
  kinds: KindsRegistry,
  cluster: DryCluster,
  {
    resources,
    isPlanned,
  }: { readonly resources: readonly PlannedResource[]; readonly isPlanned: (account: AccountKey) => boolean },
): readonly ResourceName[] {
  const kept = new Set(resources.map(({ name }) => nameText(name)))
  const namespaces = new Set(resources.map(({ name }) => name.namespace))
  const choices = choicesIn(cluster, kinds)
  const isPruned = (cr: CustomResource): boolean => {
    const { namespace, ownerReferences = [] } = cr.metadata
    if (!namespaces.has(namespace) || ownerReferences.length > 0 || isDeleting(cr)) return false
    const account = accountOf(choices, cr)
    return account !== undefined && isPlanned(accountKey(account, namespace ?? '')) && !kept.has(nameText(nameOf(cr)))
  }
  return kinds.managed.flatMap((descriptor) => {
    const all = cluster.watches.managed.get(descriptor.definition.kind)?.store.list() ?? []
    return all.filter(isPruned).map((cr) => {
      void cluster.delete(resourceTypeOf(descriptor), cr.metadata)
      return nameOf(cr)
    })
  })
}
