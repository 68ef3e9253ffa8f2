import { selects } from '../accounts/label-selector.ts'
import type { ReferenceGrant } from '../descriptor/grant.ts'

/** A namespace as grants see it. */
export interface GrantedNamespace {
  readonly name: string
  /** Undefined if namespaces are not watched. */
  readonly labels: Readonly<Record<string, string>> | undefined
}

/** Whether any grant of a resource permits references from another namespace. */
export function permits(grants: readonly ReferenceGrant[] | undefined, { name, labels }: GrantedNamespace): boolean {
  return (grants ?? []).some(({ namespaces, namespaceSelector }) => {
    if (namespaces !== undefined) return namespaces.includes(name)
    return labels !== undefined && selects(namespaceSelector, labels)
  })
}
