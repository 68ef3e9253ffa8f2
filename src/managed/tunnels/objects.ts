import type { ResourceType } from '../../kube/types.ts'
import { digestOf } from '../../util/json.ts'
import type { AccountName } from '../attempt.ts'
import type { WantedObject } from '../composed/wanted.ts'
import { type CredentialForm, DEFAULT_REPLICAS, type TunnelSpec } from '../descriptor/tunnel.ts'
import { OUTPUT_OF, TEMPLATE_DIGEST } from '../names.ts'
import { LABELS } from '../ownership.ts'
import { agentPod, type TunnelFacts } from './pod.ts'
import {
  budgetType,
  credentialName,
  deploymentType,
  PUBLIC_KEY,
  serviceAccountType,
  TUNNEL,
  workloadName,
} from './tunnel-resource.ts'

/**
 * The Deployment of a Tunnel, its ServiceAccount and its PodDisruptionBudget. Pure.
 *
 * @param leavesScale whether the Deployment keeps the number of agents that it has. Default: false
 */
export function tunnelObjects(spec: TunnelSpec, facts: TunnelFacts, leavesScale = false): readonly WantedObject[] {
  const name = workloadName(facts.name)
  const common = { name, ...marks(facts.name) }
  const selector = { matchLabels: { [TUNNEL]: facts.name } }
  const template = agentPod(spec, facts, { selector, labels: common.labels })
  return [
    { ...common, type: serviceAccountType, content: { automountServiceAccountToken: false } },
    // A node is drained one agent at a time; a single agent does not block it.
    { ...common, type: budgetType, content: { spec: { maxUnavailable: 1, selector } } },
    {
      ...common,
      annotations: { ...common.annotations, [TEMPLATE_DIGEST]: digestOf(template, 16) },
      type: deploymentType,
      content: {
        spec: {
          ...(leavesScale ? {} : { replicas: replicasOf(spec) }),
          selector,
          // A new agent is connected before one of the former leaves.
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
          template,
        },
      },
    },
  ]
}

/** Number of agents that a Tunnel is to have. Before its CRD had a default, it could be stored without one. */
export function replicasOf({ replicas = DEFAULT_REPLICAS }: TunnelSpec): number {
  return replicas
}

/** The label selector of a Tunnel's Pods, as text. */
export function podSelector(tunnel: string): string {
  return `${TUNNEL}=${tunnel}`
}

/** What a credential of a Tunnel is made from. */
interface CredentialFacts {
  readonly tunnel: string
  readonly revision: number
  readonly labels: TunnelFacts['labels']
  readonly accountRef: AccountName
  /** Of the credential. */
  readonly type: ResourceType
}

/**
 * The credential for a key that Culvert made, or the one that has a token: its ACL permits exactly the labels of the
 * Backend. Pure.
 */
export function tunnelCredential(form: CredentialForm, facts: CredentialFacts): WantedObject {
  const { tunnel, revision, labels, accountRef, type } = facts
  const name = credentialName(form, tunnel, revision)
  const acl = Object.entries(labels)
    .map(([label, value]) => `bind:${label}=${value}`)
    .sort()
  const publicKey = form === 'key' ? { publicKeyFrom: { secretKeyRef: { name, key: PUBLIC_KEY } } } : {}
  return { type, name, ...marks(tunnel), content: { spec: { accountRef, ...publicKey, acl } } }
}

/** Labels and annotations of all that a Tunnel owns. */
export function marks(tunnel: string): Pick<WantedObject, 'labels' | 'annotations'> {
  return {
    labels: {
      ...LABELS,
      'app.kubernetes.io/name': 'culvert-agent',
      'app.kubernetes.io/instance': tunnel,
      [TUNNEL]: tunnel,
    },
    annotations: { [OUTPUT_OF]: `Tunnel/${tunnel}` },
  }
}
