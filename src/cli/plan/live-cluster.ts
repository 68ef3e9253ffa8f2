import { configMapType, namespaceType, secretType } from '../../kube/core-types.ts'
import { KubeError } from '../../kube/kube-error.ts'
import { listAll } from '../../kube/list-every-page.ts'
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../../kube/types.ts'
import { type AccountResource, accountText, keyOfAccount } from '../../managed/account-resource.ts'
import type { SessionConfig } from '../../managed/accounts/session.ts'
import type { CustomResource } from '../../managed/cr.ts'
import { readSalt } from '../../managed/inputs/salt.ts'
import { type KindsRegistry, resourceTypeOf } from '../../managed/kinds-registry.ts'
import { Fingerprints } from '../../managed/run/fingerprints.ts'
import { type AccountPlace, clusterAccount } from '../cluster/account-access.ts'
import { PlanError } from './scene.ts'

/** What a plan takes from a cluster. Read once; Secrets and ConfigMaps when they are needed. */
export interface LiveCluster {
  readonly resources: readonly CustomResource[]
  readonly accounts: readonly AccountResource[]
  readonly namespaces: readonly KubeObject[]
  /** Made with the operator's salt; undefined if it may not be read: then a changed secret cannot be told. */
  readonly fingerprints: Fingerprints | undefined
  readThrough(type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined>
}

export interface LiveClusterOptions {
  readonly kube: KubeClient
  readonly kinds: KindsRegistry
  readonly operatorNamespace: string
  /** Those of the manifests: enough for somebody who may not read the others. */
  readonly namespaces: readonly string[]
}

/** Reads the resources of all kinds, with what decides how they are judged. */
export async function readCluster({
  kube,
  kinds,
  operatorNamespace,
  namespaces: own,
}: LiveClusterOptions): Promise<LiveCluster> {
  const listed = <T extends KubeObject>(types: readonly ResourceType[]): Promise<readonly T[]> => {
    return Promise.all(types.map((type) => listReachable<T>(kube, type, own))).then((lists) => lists.flat())
  }
  const [resources, accounts, namespaces, salt] = await Promise.all([
    listed<CustomResource>(kinds.managed.map(resourceTypeOf)),
    listed<AccountResource>(kinds.accounts.map(resourceTypeOf)),
    unlessForbidden(listed<KubeObject>([{ ...namespaceType, metadataOnly: true }]), []),
    unlessForbidden(readSalt({ kube, namespace: operatorNamespace }), undefined),
  ])
  return {
    resources,
    accounts,
    namespaces,
    fingerprints: salt === undefined ? undefined : new Fingerprints(salt),
    readThrough: async (type, key) => (READ.has(type.plural) ? await kube.get(type, key) : undefined),
  }
}

/** All objects of a type or, for somebody who may not list all, those of some namespaces. */
async function listReachable<T extends KubeObject>(
  kube: KubeClient,
  type: ResourceType,
  namespaces: readonly string[],
): Promise<readonly T[]> {
  const all = await unlessForbidden<readonly T[] | undefined>(listAll<T>(kube, type, []), undefined)
  if (all !== undefined) return all
  return type.namespaced ? await listAll<T>(kube, type, namespaces) : []
}

/** Types of which single objects are read when a resource names them. */
const READ: ReadonlySet<string> = new Set([secretType.plural, configMapType.plural])

async function unlessForbidden<T>(read: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (error instanceof KubeError && error.code === 'Forbidden') return otherwise
    throw error
  }
}

/** The account of that name among those of the cluster. @throws PlanError if there is none, or several */
export function accountNamed(accounts: readonly AccountResource[], name: string, namespace: string): AccountResource {
  const [kind, plain] = name.includes('/') ? name.split('/') : [undefined, name]
  const found = accounts.filter(({ kind: own, metadata }) => {
    const inReach = metadata.namespace === undefined || metadata.namespace === namespace
    return metadata.name === plain && inReach && (kind === undefined || kind === own)
  })
  const [account, ...others] = found
  if (account === undefined) {
    const known = accounts.map((each) => accountText(keyOfAccount(each)).replace('//', '/')).join(', ') || 'none'
    throw new PlanError(`--account: there is no ${name} in namespace ${namespace}: name one of ${known}`)
  }
  if (others.length > 0)
    throw new PlanError(
      `--account: ${name} is an Account and a ClusterAccount: write Account/${plain} or ClusterAccount/${plain}`,
    )
  return account
}

/**
 * Address and key of an account of the cluster.
 * @throws PlanError if the operator has not verified it: whoever may write an Account must not choose whom this machine
 *   calls
 */
export async function configOf(place: AccountPlace, account: AccountResource): Promise<SessionConfig> {
  const access = await clusterAccount(place, account)
  if (access.type === 'open') return access.config
  const name = accountText(keyOfAccount(account)).replace('//', '/')
  if (access.why === 'incomplete') throw new PlanError(`${name}: ${access.message}`)
  throw new PlanError(`${name}: ${access.message}: mend it, or name the account with --base-url and CULVERT_API_KEY`)
}
