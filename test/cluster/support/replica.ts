import type { KubeProxy } from '../../builders/kube-proxy.ts'
import type { OperatorProcess } from './operator-process.ts'
import type { World } from './world.ts'

/** A Lease that expires soon, with room for a round's requests to arrive before the first of them times out. */
export const SHORT_LEASE = [
  '--lease-duration',
  '14s',
  '--renew-deadline',
  '6s',
  '--retry-period',
  '300ms',
  '--request-timeout',
  '7s',
]

/** An operator with its own proxy to Kubernetes, which separates its writes from those of others. */
export interface Replica {
  readonly operator: OperatorProcess
  readonly kube: KubeProxy
}

/** Starts one, like `World.startStandby`. */
export async function startReplica(world: World, kube: KubeProxy, flags: readonly string[] = []): Promise<Replica> {
  return { operator: await world.startStandby(['--kubeconfig', kube.kubeconfigPath, ...flags]), kube }
}
