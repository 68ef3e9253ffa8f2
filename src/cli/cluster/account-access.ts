import { secretType } from '../../kube/core-types.ts'
import type { KubeClient } from '../../kube/types.ts'
import { type AccountKey, type AccountResource, accountKey, keyOfAccount } from '../../managed/account-resource.ts'
import { accountConfig } from '../../managed/accounts/account-config.ts'
import { secretOf } from '../../managed/accounts/account-key.ts'
import { KeptKeys } from '../../managed/accounts/kept-key.ts'
import type { SessionConfig } from '../../managed/accounts/session.ts'
import type { CustomResource } from '../../managed/cr.ts'
import { accountOf } from '../../managed/references/account-choice.ts'
import { referredName } from '../../managed/references/crossings.ts'
import { hostOf } from '../account-flags.ts'
import type { Cluster } from './ask-cluster.ts'
import { CommandError } from './command-error.ts'
import type { StatedResource } from './resource-state.ts'
import type { Snapshot } from './snapshot.ts'

/** The address and key of an account, from its resource and its Secret; or why there are none. */
export type AccountAccess =
  | { readonly type: 'open'; readonly config: SessionConfig }
  /** `unverified`: the operator does not use the account, so no one else does either. */
  | { readonly type: 'closed'; readonly why: 'unverified' | 'incomplete'; readonly message: string }

/** Where accounts and their Secrets are read. */
export interface AccountPlace {
  readonly kube: KubeClient
  /** The operator's own namespace, where the Secrets of ClusterAccounts are. */
  readonly operatorNamespace: string
}

/**
 * Reads address and key of an account as the operator does. Which hosts an administrator allows is known only to the
 * operator, which checks the immutable address of each account: one that it has not verified is not called, since
 * users who may write an Account must not choose which server this machine calls.
 *
 * @throws KubeError if the Secret cannot be read
 */
export async function clusterAccount(
  { kube, operatorNamespace }: AccountPlace,
  account: AccountResource,
): Promise<AccountAccess> {
  const ready = account.status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True') {
    const why = ready === undefined ? 'the operator has not reconciled it yet' : ready.message
    return { type: 'closed', why: 'unverified', message: `it is not Ready (${why})` }
  }
  const config = await accountConfig(
    {
      kube,
      operatorNamespace,
      keptKeys: new KeptKeys(kube, operatorNamespace),
      resources: { keyIssuersOf: () => [] },
      baseURLPolicy: { allowedHosts: [hostOf(account.spec.baseURL)], allowHTTP: true },
    },
    keyOfAccount(account),
    account,
  )
  if ('baseURL' in config) return { type: 'open', config }
  return { type: 'closed', why: 'incomplete', message: config.message }
}

/** `clusterAccount`, with an error that names the Secret if that may not be read. @throws CommandError */
export function readAccess(
  { kube }: Pick<Cluster, 'kube'>,
  account: AccountResource,
  operatorNamespace: string,
): Promise<AccountAccess> {
  const { name, namespace } = secretOf({ operatorNamespace }, keyOfAccount(account), account)
  return kube.run({ verb: 'get', type: secretType, namespace, name }, (plain) => {
    return clusterAccount({ kube: plain, operatorNamespace }, account)
  })
}

/**
 * The account of a resource, by the operator's own decision: the one in use, that of the resource it is part of, the
 * one in its spec, or the default. Undefined if there is none to choose.
 */
export async function accountInUse(snapshot: Snapshot, cr: CustomResource): Promise<AccountKey | undefined> {
  const { namespace = '' } = cr.metadata
  const wholes = snapshot.kinds
    .managedKind(cr.kind)
    ?.references.of(cr.spec)
    .filter(({ partOf }) => partOf !== undefined)
  await Promise.all([
    snapshot.readAccount({ kind: 'Account', namespace, name: 'default' }),
    snapshot.readAccount({ kind: 'ClusterAccount', name: 'default' }),
    ...(wholes ?? []).map(({ kind, ref }) => {
      return ref.name === undefined ? undefined : snapshot.read(referredName(cr, { kind, ref }))
    }),
  ])
  const account = accountOf(snapshot.choices, cr)
  return account === undefined ? undefined : accountKey(account, namespace)
}

/**
 * The account that decides which operator works on a resource: itself, or its own. Undefined if there is none, or if it
 * may not be read.
 */
export async function accountAbout(snapshot: Snapshot, resource: StatedResource): Promise<AccountResource | undefined> {
  if (isAccount(snapshot, resource)) return resource
  const key = await accountInUse(snapshot, resource as StatedResource & CustomResource)
  const account = key && (await snapshot.readAccount(key))
  return account === undefined || account instanceof CommandError || !isAccount(snapshot, account) ? undefined : account
}

function isAccount({ kinds }: Snapshot, resource: StatedResource): resource is StatedResource & AccountResource {
  return kinds.accounts.some(({ definition }) => definition.kind === resource.kind)
}
