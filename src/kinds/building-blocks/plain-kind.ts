import type { Collection } from '../../api/types.ts'
import { commonRootRules, type Fields } from '../../managed/descriptor/common.ts'
import { REFERENCES_GRANTED, type Readiness } from '../../managed/descriptor/readiness.ts'
import { reasons } from '../../managed/descriptor/reasons.ts'
import type { FoundReference } from '../../managed/descriptor/references.ts'
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
  conditions: [REFERENCES_GRANTED],
} as const

/** Defaults that suit most kinds, group by group. */

export const noReferences = { kinds: [], of: (): readonly FoundReference[] => [] } as const

/** Nothing fixed, no secrets, compared as observed. */
export const plainFields = {
  createOnly: [],
  updateOnly: [],
  secret: [],
  open: [],
  comparable: (fields: Fields): Fields => fields,
} as const

/** No references, and no problems that the schema does not detect. */
export const plain = { references: noReferences, problems: (): readonly string[] => [] } as const

/** All objects of the kind are in one collection, marked in their metadata. */
export function inCollection(collection: Collection) {
  return { collections: [collection], collectionOf: () => collection, markedBy: 'metadata' } as const
}

/** Ready, because nothing at the API happens after the write. */
export function available(message: string): Readiness {
  return { ready: true, reason: reasons.Available, message }
}
