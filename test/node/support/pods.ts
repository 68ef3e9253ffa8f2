import { until } from '../../cluster/support/wait.ts'
import type { KubernetesNode } from '../node.ts'
import { NAMESPACE, RELEASE } from './installation.ts'

/** A Pod with its only container. */
export interface ListedPod {
  readonly name: string
  readonly ready: boolean
  readonly restarts: number
  /** Why earlier runs of its container ended, such as `OOMKilled`. */
  readonly terminations: readonly string[]
  /** Its id in the container runtime. */
  readonly containerId: string
  /** In the form of the chart's values, such as `512Mi`. */
  readonly memoryLimit: string
}

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly spec: {
    readonly containers: readonly { readonly resources: { readonly limits: { readonly memory: string } } }[]
  }
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly ready: boolean
      readonly restartCount: number
      readonly containerID?: string
      readonly lastState: { readonly terminated?: { readonly reason: string } }
    }[]
  }
}

/** The operators' Pods that are not terminating, by name. */
export function operatorPods(node: KubernetesNode): Promise<readonly ListedPod[]> {
  return podsIn(node, NAMESPACE, 'app.kubernetes.io/component=operator')
}

/** The Pods of a namespace with that label that are not terminating, by name. */
export async function podsIn(node: KubernetesNode, namespace: string, label: string): Promise<readonly ListedPod[]> {
  const text = await node.kubectlOutput(['-n', namespace, 'get', 'pods', '-l', label, '-o', 'json'])
  const { items } = JSON.parse(text) as { readonly items: readonly Pod[] }
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(listed)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Waits until no Pod of the chart exists any more: Helm does not wait for the last. */
export async function untilPodsAreGone(node: KubernetesNode): Promise<void> {
  const get = ['-n', NAMESPACE, 'get', 'pods', '-l', `app.kubernetes.io/instance=${RELEASE}`, '-o', 'name']
  await until('the Pods are gone', async () => (await node.kubectlOutput(get)) === '', { timeoutMs: 60_000 })
}

function listed({ metadata, spec, status }: Pod): ListedPod {
  const container = status.containerStatuses?.[0]
  const reason = container?.lastState.terminated?.reason
  return {
    name: metadata.name,
    ready: container?.ready ?? false,
    restarts: container?.restartCount ?? 0,
    terminations: reason === undefined ? [] : [reason],
    containerId: container?.containerID?.replace('containerd://', '') ?? '',
    memoryLimit: spec.containers[0]?.resources.limits.memory ?? '',
  }
}

/** Memory of a container, in bytes. */
export interface ContainerMemory {
  /** The most that it was charged for, to which its limit applies. */
  readonly peak: number
  /** The most that its process had resident: also pages of files that another container was charged for. */
  readonly resident: number
  readonly limit: number
}

/** The kernel's figures for the memory of a Pod's container. */
export async function memoryOf(
  node: KubernetesNode,
  { containerId, memoryLimit }: ListedPod,
): Promise<ContainerMemory> {
  const [, number] = /^(\d+)Mi$/.exec(memoryLimit) ?? []
  if (number === undefined) throw new Error(`a limit in Mi was expected, and not ${memoryLimit}`)
  return { ...(await node.cgroups.memoryOf(containerId)), limit: Number(number) * 2 ** 20 }
}
