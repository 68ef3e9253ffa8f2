import { commonRootRules } from '../../managed/descriptor/common.ts'
import { GROUP, VERSION } from '../../managed/names.ts'

/** Shared by the definitions of all kinds. `kubectl get culvert` lists every kind through the category. */
export const common = { group: GROUP, version: VERSION, categories: ['culvert'] } as const

/**
 * Shared by the definitions of managed kinds: `kubectl get --field-selector` finds a resource by its id at the API, by
 * the account in use, or by the account that it names.
 */
export const managedKind = {
  ...common,
  selectableFields: ['.status.id', '.status.accountRef.name', '.spec.accountRef.name'],
  rootRules: commonRootRules,
} as const
