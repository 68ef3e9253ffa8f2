import { GROUP, VERSION } from '../managed/names.ts'
import { commonRootRules } from '../managed/types/common.ts'

/** What the definitions of all kinds share. `kubectl get culvert` lists every kind through the category. */
export const common = { group: GROUP, version: VERSION, categories: ['culvert'] } as const

/** What the definitions of managed kinds share: `kubectl get --field-selector` finds a resource by the id at the API, or by its account. */
export const managedKind = {
  ...common,
  selectableFields: ['.status.id', '.spec.accountRef.name'],
  rootRules: commonRootRules,
} as const
