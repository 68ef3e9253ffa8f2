import type { KubeObject, ObjectKey } from '../../kube/types.ts'
import type { ComposedContext } from '../composed/composed-reconciler.ts'
import type { ComposedKind, OwnedPart, Report, Result } from '../composed/composition.ts'
import { covers } from '../composed/covers.ts'
import { keyOf } from '../composed/wanted.ts'
import { generationOf, isDeleting } from '../cr.ts'
import type { Condition, Fields } from '../descriptor/common.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { SERVICE_PROBLEM } from '../names.ts'
import { ownershipOf } from '../ownership.ts'
import { stampConditions } from '../run/conditions.ts'
import type { Resources } from '../run/context.ts'
import { composeService } from './compose.ts'
import { noteFor } from './followed.ts'
import { roleOf, type ServicePart } from './objects.ts'
import type { ServiceParts } from './parts.ts'
import {
  type Ingress,
  isServed,
  SERVICE_READY,
  type ServicePolicy,
  type ServiceResource,
  serviceType,
} from './service.ts'
import { conditionOf, ingressOf } from './service-status.ts'

export interface ServiceContext extends Pick<ComposedContext, 'known' | 'clock'> {
  readonly kinds: KindsRegistry
  readonly resources: Resources
  readonly policy: ServicePolicy
  /** The watch of Services of type LoadBalancer. */
  readonly services: {
    readonly store: { get(key: ObjectKey): ServiceResource | undefined }
    record(service: ServiceResource): void
  }
  readonly parts: ServiceParts
}

/**
 * Services of type LoadBalancer and of Culvert's class, as owners of what makes them reachable
 * (docs/decisions/0043-services-of-type-load-balancer.md).
 */
export function composedService(context: ServiceContext): ComposedKind<ServiceResource> {
  const { kinds, policy, services, known, clock } = context
  const partsOf = (service: ObjectKey): readonly OwnedPart[] => {
    return context.parts.of(service).map((stored) => {
      return { type: kinds.resourceType(stored.kind), role: roleOf(stored.kind), stored }
    })
  }
  return {
    find: (name) => services.store.get(name),
    typeOf: () => serviceType,
    record: (service) => {
      if (isServed(service, policy)) services.record(service)
    },
    serving: {
      isServed: (service) => isServed(service, policy),
      partsOf,
      withdrawn: ({ spec, status = {} }) => ({
        ...status,
        conditions: status.conditions?.filter(({ type }) => type !== SERVICE_READY),
        // The class is another's: so is where it is reached.
        loadBalancer: spec.type === 'LoadBalancer' ? status.loadBalancer : reachedAt(status.loadBalancer, []),
      }),
    },
    compose: (service) => {
      const stored = (wanted: ServicePart): KubeObject | undefined => known(wanted.type, keyOf(service, wanted))
      return composeService(service, policy, { ...context, parts: partsOf(service.metadata), stored })
    },
    report: (service, result) => {
      const own = partsOf(service.metadata).filter(({ stored }) => ownershipOf(stored, service).type === 'own')
      return reportOf(service, result, own, clock.now())
    },
  }
}

/** What the status says of a Service, and its Edges of what a person has to fix. Pure. */
function reportOf(service: ServiceResource, result: Result, own: readonly OwnedPart[], now: number): Report {
  const note = result.type === 'stalled' ? noteFor(result) : undefined
  const edges = own.filter(({ role, stored }) => role === 'entry' && !isDeleting(stored))
  const { conditions = [], loadBalancer } = service.status ?? {}
  const [stamped] = stampConditions([conditionOf(result)], conditions, generationOf(service), now)
  const others = conditions.filter(({ type }) => type !== SERVICE_READY)
  const at = conditions.findIndex(({ type }) => type === SERVICE_READY)
  const ready = stamped === undefined ? [] : [asStored(stamped)]
  return {
    notes: edges
      .filter(({ stored }) => stored.metadata.annotations?.[SERVICE_PROBLEM] !== note)
      .map((part) => ({ part, annotations: { [SERVICE_PROBLEM]: note ?? null } })),
    status: {
      ...service.status,
      conditions: others.toSpliced(at < 0 ? others.length : at, 0, ...ready),
      loadBalancer: reachedAt(loadBalancer, ingressOf(own)),
    },
  }
}

/** Where the Service is reached: as it is stored, if that says the same, with defaults of the API server. */
function reachedAt(stored: Fields | undefined, ingress: readonly Ingress[]): Fields | undefined {
  if (covers(stored?.ingress ?? [], ingress)) return stored
  return ingress.length === 0 ? {} : { ingress }
}

/** Services of some versions of Kubernetes have no generation, and a condition of generation 0 is stored without it. */
function asStored({ observedGeneration = 0, ...condition }: Condition): Condition {
  return observedGeneration === 0 ? condition : { ...condition, observedGeneration }
}
