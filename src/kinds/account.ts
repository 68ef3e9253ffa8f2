import { Type } from 'typebox'
import { accountSpecFields, accountSpecRules, accountStatusFields } from '../managed/descriptor/account.ts'
import type { AccountDescriptor } from '../managed/descriptor/descriptor.ts'
import { mirrorHere, shownCondition } from '../managed/descriptor/mirror.ts'
import { object } from '../schema/define.ts'
import { defineKind } from '../schema/definition.ts'
import { stateColumns, textColumn } from './building-blocks/columns.ts'
import { common } from './building-blocks/plain-kind.ts'

const definition = defineKind({
  ...common,
  kind: 'Account',
  plural: 'accounts',
  singular: 'account',
  pluralSharedWith: "NATS's JetStream controller",
  shortNames: ['acct'],
  scope: 'Namespaced',
  description:
    'An account at the service: the address of its management API and the key to call it with. Resources of the same namespace refer to it by `accountRef`; those without one use the Account named `default`.',
  spec: object(
    { ...accountSpecFields('the same namespace'), mirrorSessions: Type.Optional(mirrorHere) },
    { description: 'Which API to call, and with which key.', rules: accountSpecRules },
  ),
  status: object(accountStatusFields, { description: 'Observed state of the account.' }),
  printerColumns: stateColumns(textColumn('Base URL', '.spec.baseURL', 'Address of the API.')),
  conditions: [shownCondition],
})

/** An account that the resources of its own namespace may use. */
export const account: AccountDescriptor = { role: 'account', definition, secretNamespace: 'own' }
