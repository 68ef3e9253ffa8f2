import type { ObjectKey } from '../../kube/types.ts'
import type { ObjectSource } from '../../runtime/object-source.ts'
import type { ServiceParts } from './parts.ts'
import { isOurs, type ServiceResource } from './service.ts'

/** Wakes a Service when it changes or anything that it owns, and when Culvert no longer serves it. */
export function subscribeServices(
  services: ObjectSource<ServiceResource>,
  parts: ServiceParts,
  wake: (service: ObjectKey) => void,
): void {
  services.subscribe(({ object, previous }) => {
    if (isOurs(object) || (previous !== undefined && isOurs(previous))) wake(object.metadata)
  })
  parts.subscribe(wake)
}
