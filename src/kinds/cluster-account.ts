import { Type } from 'typebox'
import { accountSpecFields, accountSpecRules, accountStatusFields } from '../managed/descriptor/account.ts'
import type { AccountDescriptor } from '../managed/descriptor/descriptor.ts'
import { mirrorElsewhere, shownCondition } from '../managed/descriptor/mirror.ts'
import { object } from '../schema/define.ts'
import { defineKind } from '../schema/definition.ts'
import { accessField, type MemberKind } from './shared/cluster-access.ts'
import { stateColumns, textColumn } from './shared/columns.ts'
import { common } from './shared/names.ts'

/**
 * An account that resources in several namespaces may use, as `access` allows. `members`: every kind whose resources
 * live in accounts.
 */
export function clusterAccountFor(members: readonly MemberKind[]): AccountDescriptor {
  return { role: 'account', definition: definitionFor(members), secretNamespace: 'operator' }
}

function definitionFor(members: readonly MemberKind[]) {
  return defineKind({
    ...common,
    kind: 'ClusterAccount',
    plural: 'clusteraccounts',
    singular: 'clusteraccount',
    shortNames: ['cacct'],
    scope: 'Cluster',
    description:
      "An account of the service that several namespaces share: the address of its management API and the key to authenticate with. The key is in a Secret in the operator's namespace, where users of the account cannot read it.",
    spec: object(
      {
        ...accountSpecFields('the namespace of the operator'),
        mirrorSessions: Type.Optional(mirrorElsewhere),
        access: Type.Optional(accessField(members)),
      },
      { description: 'Address and key of the account, and which namespaces may use it.', rules: accountSpecRules },
    ),
    status: object(accountStatusFields, { description: 'Observed state of the account.' }),
    printerColumns: stateColumns(textColumn('Base URL', '.spec.baseURL', 'Address of the API.')),
    conditions: [shownCondition],
  })
}
