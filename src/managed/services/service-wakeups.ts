import type { KubeObject, ObjectKey } from '../../kube/types.ts'
import type { ObjectSource } from '../../runtime/object-source.ts'
import { keyString } from '../../runtime/store.ts'
import type { CustomResource } from '../cr.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { namedTargets } from '../references/crossings.ts'
import { targetIds } from '../references/targets.ts'
import type { ResourceStore } from '../store/resource-store.ts'
import type { CoreWatches } from '../store/watches.ts'
import { POLICY } from './objects.ts'
import type { ServiceParts } from './parts.ts'
import { isOurs, type ServicePolicy, type ServiceResource } from './service.ts'
import { settingsOf } from './settings.ts'

/** Wakes a Service when it changes or anything that it owns, and when Culvert no longer serves it. */
export function subscribeServices(
  services: ObjectSource<ServiceResource>,
  { parts, policy }: { readonly parts: ServiceParts; readonly policy: ServicePolicy },
  wake: (service: ObjectKey) => void,
): void {
  services.subscribe(({ object, previous }) => {
    if (isOurs(object, policy) || (previous !== undefined && isOurs(previous, policy))) wake(object.metadata)
  })
  parts.subscribe(wake)
}

const POLICIES = 'ip policies'

/**
 * Wakes a Service when a policy that it names changes, or a rule of that policy: both decide whether its Edges may
 * open.
 */
export function subscribePolicies(
  services: ObjectSource<ServiceResource>,
  { kinds, store, managed }: { kinds: KindsRegistry; store: ResourceStore; managed: CoreWatches['managed'] },
  wake: (service: ObjectKey) => void,
): void {
  services.addIndex(POLICIES, (service) => {
    const settings = settingsOf(service)
    const names = 'problems' in settings ? [] : (settings.ipPolicies ?? [])
    return names.map((name) => keyString({ namespace: service.metadata.namespace, name }))
  })
  const wakeNaming = (policy: ObjectKey): void => {
    for (const { metadata } of services.store.byIndex(POLICIES, keyString(policy))) wake(metadata)
  }
  managed.get(POLICY)?.subscribe(({ object: { metadata } }) => wakeNaming(metadata))
  for (const kind of kinds.managedKind(POLICY)?.whole?.parts ?? []) {
    managed.get(kind)?.subscribe(({ object, previous }) => {
      for (const part of previous === undefined ? [object] : [previous, object]) {
        for (const policy of wholesOf(kinds, store, part)) wakeNaming(policy)
      }
    })
  }
}

/** The policies that a rule names, and the one whose id it names. */
function wholesOf(kinds: KindsRegistry, store: ResourceStore, part: CustomResource): readonly ObjectKey[] {
  const descriptor = kinds.managedKind(part.kind)
  const account = store.accountKeyOf(part)
  if (descriptor === undefined) return []
  const byId = account === undefined ? [] : targetIds(descriptor, part)
  const holders = byId.flatMap(({ id }) => (account && store.holderOf(account, id)) ?? [])
  return [...namedTargets(descriptor, part), ...holders.map(({ metadata }: KubeObject) => metadata)]
}
