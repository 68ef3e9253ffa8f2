import type { KubeObject, ObjectKey, ResourceType } from '../../kube/types.ts'
import type { Condition } from '../descriptor/common.ts'
import { GROUP } from '../names.ts'

/** The `loadBalancerClass` of Services that Culvert serves. */
export const SERVICE_CLASS = `${GROUP}/edge`
/** Label of everything that a Service owns, with the Service's name. */
export const SERVICE = `${GROUP}/service`
/** The condition of a Service that Culvert writes; others are left alone. */
export const SERVICE_READY = `${GROUP}/ready`

export const serviceType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
}
/** Other Services are neither listed nor watched. */
export const LOAD_BALANCERS = 'spec.type=LoadBalancer'

export interface ServicePort {
  readonly name?: string
  /** Default: TCP. */
  readonly protocol?: string
  readonly port: number
}

/** Where a Service is reached (`core/v1` LoadBalancerIngress). */
export interface Ingress {
  readonly hostname?: string
  readonly ip?: string
  /** Of an `ip` only. With `Proxy`, nodes do not redirect traffic to it: it cannot be used to capture their traffic. */
  readonly ipMode?: 'VIP' | 'Proxy'
  readonly ports?: readonly { readonly port: number; readonly protocol: string }[]
}

/** The parts of a Service that are read. */
export interface ServiceResource extends KubeObject {
  readonly spec: {
    readonly type?: string
    readonly loadBalancerClass?: string
    readonly loadBalancerSourceRanges?: readonly string[]
    readonly ports?: readonly ServicePort[]
  }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly Ingress[] }
    readonly conditions?: readonly Condition[]
  }
}

/** The Service that controls an object; undefined if none does. */
export function serviceOwning({ metadata: { namespace, ownerReferences = [] } }: KubeObject): ObjectKey | undefined {
  const owner = ownerReferences.find(({ apiVersion, kind, controller }) => {
    return controller === true && kind === serviceType.kind && apiVersion === serviceType.version
  })
  return owner === undefined ? undefined : { namespace, name: owner.name }
}

/** What the administrator allows Services of type LoadBalancer. */
export interface ServicePolicy {
  /** Whether those without a class are served besides those of Culvert's class, as cloud controllers do. */
  readonly unclassed: boolean
  /** TCP ports that a Service may have, at most: each of them is an edge with agents of its own. */
  readonly maxPorts: number
}

/** Default of `maxPorts`. */
export const MAX_PORTS = 16
/** The highest `maxPorts`. */
export const HIGHEST_MAX_PORTS = 256

/**
 * Whether Culvert serves it. The class cannot change while the type stays. One without a class that another controller
 * has given an address stays with that.
 */
export function isServed(service: ServiceResource, { unclassed }: Pick<ServicePolicy, 'unclassed'>): boolean {
  const { type, loadBalancerClass } = service.spec
  if (type !== 'LoadBalancer') return false
  if (loadBalancerClass !== undefined) return loadBalancerClass === SERVICE_CLASS
  const isReached = (service.status?.loadBalancer?.ingress ?? []).length > 0
  return unclassed && (wasServed(service) || !isReached)
}

/** Whether Culvert serves it, or did. */
export function isOurs(service: ServiceResource, policy: Pick<ServicePolicy, 'unclassed'>): boolean {
  return isServed(service, policy) || wasServed(service)
}

function wasServed({ status }: ServiceResource): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === SERVICE_READY)
}
