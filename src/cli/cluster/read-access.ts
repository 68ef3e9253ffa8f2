import { secretType } from '../../kube/core-types.ts'
import { type AccountResource, keyOfAccount } from '../../managed/account-resource.ts'
import { secretOf } from '../../managed/accounts/account-key.ts'
import { type AccountAccess, clusterAccount } from '../cluster-account.ts'
import type { Cluster } from './ask-cluster.ts'

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
