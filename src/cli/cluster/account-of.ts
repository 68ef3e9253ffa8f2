import { type AccountKey, type AccountResource, accountKey } from '../../managed/account-resource.ts'
import type { CustomResource } from '../../managed/cr.ts'
import { accountOf } from '../../managed/references/account-choice.ts'
import { referredName } from '../../managed/references/crossings.ts'
import { CommandError } from './command-error.ts'
import type { StatedResource } from './resource-state.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * The account of a resource, by the operator's own decision: the one in use, that of the resource it is part of, the
 * one that its spec names, or the default. Undefined if there is none to choose.
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
