import { type ServiceResource, serviceType } from '../../../../src/managed/services/service.ts'
import { NAMESPACE, type SimulatedWorld } from '../world.ts'

const KEY = { namespace: NAMESPACE, name: 'web' }
export const OFFICE = { rules: [{ cidr: '192.0.2.0/24', action: 'Allow' }] }

/** What somebody wants of a Service. */
export interface Wish {
  /** Default: LoadBalancer, of Culvert's class. */
  readonly type?: 'ClusterIP'
  /** Default: 80. */
  readonly ports?: readonly number[]
  readonly domain?: string
  readonly policies?: string
  readonly account?: string
}

/** Like `kubectl apply`: makes the Service exactly so. */
export function serve(world: SimulatedWorld, { type, ports = [80], domain, policies, account }: Wish): void {
  const annotations = {
    'culvert.dev/domain': domain,
    'culvert.dev/ip-policies': policies,
    'culvert.dev/account': account,
  }
  const set = Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== undefined))
  const spec = {
    type: type ?? 'LoadBalancer',
    ...(type === undefined ? { loadBalancerClass: 'culvert.dev/edge' } : {}),
    ports: ports.map((port) => ({ name: `port-${port}`, port, protocol: 'TCP' })),
  }
  if (serviceIn(world) === undefined) world.server.create(serviceType, KEY, { metadata: { annotations: set }, spec })
  else {
    const removed = Object.fromEntries(Object.keys(annotations).map((name) => [name, null]))
    world.server.patch(serviceType, KEY, {
      metadata: { annotations: { ...removed, ...set } },
      spec: { loadBalancerClass: null, ...spec },
    })
  }
}

export function remove(world: SimulatedWorld): void {
  world.kube.delete(serviceType, KEY)
}

export function serviceIn(world: SimulatedWorld): ServiceResource | undefined {
  return world.kube.get<ServiceResource>(serviceType, KEY)
}

interface RemoteEdge {
  readonly id: string
  readonly backend?: { readonly enabled?: boolean } | null
  readonly ip_restriction?: { readonly enabled?: boolean; readonly ip_policy_ids?: readonly string[] } | null
}

/** Edges at the API, with the policies by which they let anyone in; undefined for those that let nobody in. */
export function edgesIn(
  world: SimulatedWorld,
): readonly { readonly id: string; readonly policies?: readonly string[] }[] {
  const { accounts } = world.api.emulator.admin.snapshot()
  return Object.values(accounts)
    .flatMap(({ objects }) => Object.entries(objects))
    .filter(([path]) => path.startsWith('edges/'))
    .flatMap(([, edges]) => edges as unknown as readonly RemoteEdge[])
    .map(({ id, backend, ip_restriction: restriction }) => {
      if (backend?.enabled !== true) return { id }
      return { id, policies: restriction?.enabled === true ? (restriction.ip_policy_ids ?? []) : [] }
    })
}
