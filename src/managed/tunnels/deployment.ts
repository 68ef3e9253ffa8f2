import type { KubeObject } from '../../kube/types.ts'
import { TOKEN_VERSION } from '../names.ts'

/** The parts of a Deployment that are read. */
export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number
    readonly template?: {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
      readonly spec?: { readonly volumes?: readonly { readonly secret?: { readonly secretName?: string } }[] }
    }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
  }
}

/** Agents that are connected: they are ready once they have bound everything. */
export function onlineIn(deployment: Deployment | undefined): number {
  return deployment?.status?.readyReplicas ?? 0
}

/** The Secret that new agents mount. */
export function mountedSecret(deployment: Deployment | undefined): string | undefined {
  return deployment?.spec?.template?.spec?.volumes?.find(({ secret }) => secret !== undefined)?.secret?.secretName
}

/** Which token new agents have, as recorded on their Pods. */
export function tokenVersion(deployment: Deployment | undefined): string | undefined {
  return deployment?.spec?.template?.metadata?.annotations?.[TOKEN_VERSION]
}

/** Whether all agents are those of the present template, and connected. */
export function isRolledOut({ metadata, spec, status = {} }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1
  const { observedGeneration = 0, replicas, updatedReplicas, availableReplicas } = status
  if (observedGeneration < (metadata.generation ?? 0)) return false
  return [replicas, updatedReplicas, availableReplicas].every((count) => count === wanted)
}
