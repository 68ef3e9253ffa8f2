import { accountOf } from '../../managed/accounts/account-choice.ts'
import { type AccountKey, accountKey } from '../../managed/accounts/account-resource.ts'
import type { CustomResource } from '../../managed/cr.ts'
import { referredName } from '../../managed/references/crossings.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * The account of a resource, by the operator's own decision: the one in use, that of the resource it is part of, the one
 * that its spec names, or the default. Undefined if there is none to choose.
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
