import type { KubeObject, ResourceType } from '../../kube/types.ts'
import type { RecordedSource } from '../../runtime/object-source.ts'
import type { CredentialForm, TunnelSpec, TunnelStatus } from '../descriptor/tunnel.ts'
import { GROUP } from '../names.ts'

/** A Tunnel as the watches have reported it. */
export interface TunnelResource extends KubeObject {
  readonly spec: TunnelSpec
  readonly status?: TunnelStatus
}

/** The watches of Tunnels and of what they consist of, by kind. */
export interface TunnelWatches {
  readonly composed: ReadonlyMap<string, RecordedSource<TunnelResource>>
  /** What runs the agents of Tunnels; none while there are no agents. */
  readonly workloads: ReadonlyMap<string, RecordedSource<KubeObject>>
}

export function tunnelStatus(cr: TunnelResource): TunnelStatus {
  return cr.status ?? {}
}

/** A status to write: undefined members are removed. */
export type Changed<T> = { readonly [Member in keyof T]: T[Member] | undefined }

/** Name of a Tunnel's Deployment, ServiceAccount and PodDisruptionBudget. */
export function workloadName(tunnel: string): string {
  return `${tunnel}-tunnel`
}

/** Name of the Secret with a key or token that Culvert made, and of its credential. */
export function credentialName(form: CredentialForm, tunnel: string, revision: number): string {
  return `${workloadName(tunnel)}-${form}-${revision}`
}

/** Label of everything that a Tunnel owns, with the Tunnel's name. */
export const TUNNEL = `${GROUP}/tunnel`

/** Keys in the Secret with a key. */
export const PRIVATE_KEY = 'id_ed25519'
export const PUBLIC_KEY = 'id_ed25519.pub'
/** Key in the Secret with a token: where a TunnelCredential writes it, unless its spec says otherwise. */
export const TOKEN = 'token'

export const deploymentType = namespaced('apps', 'deployments', 'Deployment')
export const serviceAccountType = namespaced('', 'serviceaccounts', 'ServiceAccount')
export const budgetType = namespaced('policy', 'poddisruptionbudgets', 'PodDisruptionBudget')

/** What runs the agents of a Tunnel, each of them watched. */
export const workloadTypes: readonly ResourceType[] = [deploymentType, serviceAccountType, budgetType]

function namespaced(group: string, plural: string, kind: string): ResourceType {
  return { group, version: 'v1', plural, kind, namespaced: true }
}
