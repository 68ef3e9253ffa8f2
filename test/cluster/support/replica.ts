import type { KubeProxy } from '../../builders/kube-proxy.ts'
import type { OperatorProcess } from './operator-process.ts'
import type { World } from './world.ts'

/** A Lease that expires soon, with room for a round's requests to come together before the first of them times out. */
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

/** An operator that speaks to Kubernetes through a proxy of its own: what it writes can be told from what others write. */
export interface Replica {
  readonly operator: OperatorProcess
  readonly kube: KubeProxy
}

/** Starts one, as `World.startStandby` does. */
export async function startReplica(world: World, kube: KubeProxy, flags: readonly string[] = []): Promise<Replica> {
  return { operator: await world.startStandby(['--kubeconfig', kube.kubeconfigPath, ...flags]), kube }
}
