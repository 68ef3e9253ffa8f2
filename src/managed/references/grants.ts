import { selects } from '../accounts/label-selector.ts'
import type { ReferenceGrant } from '../descriptor/grant.ts'

/** A namespace as grants know it. */
export interface GrantedNamespace {
  readonly name: string
  /** Undefined where the watches do not show them. */
  readonly labels: Readonly<Record<string, string>> | undefined
}

/** Whether one of the grants of a resource permits references from a namespace that is not its own. */
export function permits(grants: readonly ReferenceGrant[] | undefined, { name, labels }: GrantedNamespace): boolean {
  return (grants ?? []).some(({ namespaces, namespaceSelector }) => {
    if (namespaces !== undefined) return namespaces.includes(name)
    return labels !== undefined && selects(namespaceSelector, labels)
  })
}
