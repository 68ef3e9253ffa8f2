import { Type } from 'typebox'
import { accountSpecFields, accountSpecRules, accountStatusFields, labelSelector } from '../managed/types/account.ts'
import type { AccountDescriptor } from '../managed/types/descriptor.ts'
import { mirrorElsewhere } from '../managed/types/mirror.ts'
import { bool, object } from '../schema/define.ts'
import { defineKind } from '../schema/definition.ts'
import { stateColumns, textColumn } from './columns.ts'
import { common } from './names.ts'

const definition = defineKind({
  ...common,
  kind: 'ClusterAccount',
  plural: 'clusteraccounts',
  singular: 'clusteraccount',
  shortNames: ['cacct'],
  scope: 'Cluster',
  description:
    "An account at the API that several namespaces share. Its key lives in a Secret in the operator's namespace, out of reach of the account's users.",
  spec: object(
    {
      ...accountSpecFields('the namespace of the operator'),
      mirrorSessions: Type.Optional(mirrorElsewhere),
      allowedNamespaces: Type.Optional(
        labelSelector(
          'Namespaces whose resources may use the account, selected by label. As everywhere in Kubernetes, an empty selector `{}` selects every namespace. Default (absent): none.',
        ),
      ),
      allowAdoption: Type.Optional(
        bool({
          description:
            'Whether resources of these namespaces may observe and adopt existing objects of the account (`spec.externalID`). If so, any of them may take over any object that no other resource owns. Default: false.',
          default: false,
        }),
      ),
    },
    { description: 'Where the calls go, with which key, and who may use the account.', rules: accountSpecRules },
  ),
  status: object(accountStatusFields, { description: 'Observed state of the account.' }),
  printerColumns: stateColumns(textColumn('Base URL', '.spec.baseURL', 'Address of the API.')),
})

/** An account that resources of the namespaces it allows may use. */
export const clusterAccount: AccountDescriptor = { role: 'account', definition, secretNamespace: 'operator' }
