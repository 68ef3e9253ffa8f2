import { listAll } from '../../kube/list-every-page.ts'
import type { KubeClient } from '../../kube/types.ts'
import { keyString } from '../../runtime/store.ts'
import { hasFinalizer } from '../cr.ts'
import type { Descriptor } from '../descriptor/descriptor.ts'
import { type KindsRegistry, resourceTypeOf } from '../kinds-registry.ts'
import type { Permission } from '../permissions.ts'

export interface LeftoverOptions {
  readonly kube: Pick<KubeClient, 'list' | 'serves'>
  readonly kinds: KindsRegistry
  /** Namespaces to search; empty: all, and cluster-scoped resources. */
  readonly namespaces: readonly string[]
}

/** Resources of one kind that cannot be deleted without an operator. */
export interface Leftovers {
  readonly kind: string
  /** `namespace/name`, or `name`. */
  readonly names: readonly string[]
}

/** Finds resources whose deletion would hang once the operator is gone: all that have the finalizer. */
export async function findLeftovers({ kube, kinds, namespaces }: LeftoverOptions): Promise<readonly Leftovers[]> {
  const found: Leftovers[] = []
  for (const descriptor of finalizedKinds(kinds, namespaces.length > 0)) {
    const type = { ...resourceTypeOf(descriptor), metadataOnly: true }
    const held = (await listAll(kube, type, namespaces)).filter(hasFinalizer)
    if (held.length > 0)
      found.push({ kind: descriptor.definition.kind, names: held.map(({ metadata }) => keyString(metadata)) })
  }
  return found
}

/** Permissions that `findLeftovers` needs, in the cluster or in each namespace that it searches. */
export function leftoverPermissions(kinds: KindsRegistry, scope: 'cluster' | 'namespace'): readonly Permission[] {
  return finalizedKinds(kinds, scope === 'namespace').map((descriptor) => ({
    type: resourceTypeOf(descriptor),
    verbs: ['list'],
    why: 'Before Culvert is removed, counts the resources that could not be deleted without it. Metadata only.',
  }))
}

/** Kinds that get the finalizer. Mirrors and commands hold nothing at the API and are deleted without it. */
function finalizedKinds({ managed, accounts }: KindsRegistry, namespacedOnly: boolean): readonly Descriptor[] {
  return [...managed, ...accounts].filter(({ definition }) => !namespacedOnly || definition.scope === 'Namespaced')
}
