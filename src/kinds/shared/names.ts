import { commonRootRules } from '../../managed/descriptor/common.ts'
import { GROUP, VERSION } from '../../managed/names.ts'

/** What the definitions of all kinds share. `kubectl get culvert` lists every kind through the category. */
export const common = { group: GROUP, version: VERSION, categories: ['culvert'] } as const

/** What the definitions of managed kinds share: `kubectl get --field-selector` finds a resource by its id at the API, by the account in use, or by the account that it names. */
export const managedKind = {
  ...common,
  selectableFields: ['.status.id', '.status.accountRef.name', '.spec.accountRef.name'],
  rootRules: commonRootRules,
} as const
