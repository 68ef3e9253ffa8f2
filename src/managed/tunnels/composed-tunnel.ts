import { secretType } from '../../kube/core-types.ts'
import { pods } from '../../kube/streams.ts'
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import type { AccountKey, AccountResource } from '../account-resource.ts'
import type { ComposedContext } from '../composed/composed-reconciler.ts'
import type { ComposedKind, Report, Result } from '../composed/composition.ts'
import { templateDigest } from '../composed/stored-template.ts'
import { type CustomResource, generationOf, type ResourceName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { ComposedDescriptor } from '../descriptor/tunnel.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { stampConditions } from '../run/conditions.ts'
import { composeAgents, composeCredential, type TunnelPlan } from './compose.ts'
import { conditionsOf } from './conditions.ts'
import { type Deployment, onlineIn } from './deployment.ts'
import { duesOf } from './key-plan.ts'
import { podSelector, replicasOf } from './objects.ts'
import { lastError } from './pod-problems.ts'
import type { TunnelPolicy } from './policy.ts'
import { accountOf, routeOf } from './route.ts'
import { Scaling } from './scaling.ts'
import {
  deploymentType,
  type TunnelResource,
  type TunnelWatches,
  tunnelStatus,
  workloadName,
} from './tunnel-resource.ts'

/** How often agents that are not connected are asked why. */
const DISCONNECTED_MS = 30_000

export interface TunnelContext extends Pick<ComposedContext, 'known' | 'clock'> {
  readonly kinds: KindsRegistry
  readonly resources: {
    get(name: ResourceName): CustomResource | undefined
    account(key: AccountKey): AccountResource | undefined
    /** Puts the answer to a write into the store at once. */
    record(object: KubeObject): void
  }
  readonly tunnels: TunnelWatches['composed']
  /** Undefined: there are no agents. */
  readonly policy: TunnelPolicy | undefined
  readonly kube: Pick<KubeClient, 'get' | 'list'>
}

/**
 * Tunnels, as owners of a key or token, its credential, and the agents that use them
 * (docs/decisions/0041-tunnels-are-composed.md).
 */
export class ComposedTunnel implements ComposedKind<TunnelResource, TunnelPlan> {
  readonly #context: TunnelContext
  readonly #scaling = new Scaling()

  constructor(context: TunnelContext) {
    this.#context = context
  }

  find(name: ResourceName): TunnelResource | undefined {
    return this.#context.tunnels.get(name.kind)?.store.get(name)
  }

  typeOf(kind: string): ResourceType {
    return this.#context.kinds.resourceType(kind)
  }

  record(tunnel: TunnelResource): void {
    this.#context.resources.record(tunnel)
  }

  /** The Tunnel is gone. */
  forget({ metadata: { uid } }: KubeObject): void {
    this.#scaling.forget(uid)
  }

  async compose(cr: TunnelResource): Promise<TunnelPlan> {
    const { kinds, resources, known, kube, clock } = this.#context
    const { namespace, name, uid } = cr.metadata
    const descriptor = this.#descriptorOf(cr)
    const route = routeOf(this.#context, descriptor, cr)
    const { key } = tunnelStatus(cr)
    const metadataOnly = { ...secretType, metadataOnly: true }
    const hasKey = key?.issuedAt === undefined || (await kube.get(metadataOnly, { namespace, name: key.name }))
    // After that request: another client may scale the Deployment meanwhile, which would then be set back uncounted.
    const deployment = known(deploymentType, { namespace, name: workloadName(name) }) as Deployment | undefined
    const existing = { descriptor, route, deployment, hasKey: hasKey !== undefined, kinds, resources, now: clock.now() }
    return composeAgents(cr, existing, composeCredential(cr, existing), () => {
      return this.#scaling.decide(uid, replicasOf(cr.spec), deployment?.spec?.replicas, clock.monotonic())
    })
  }

  async report(cr: TunnelResource, result: Result, plan: TunnelPlan | undefined): Promise<Report> {
    const { clock } = this.#context
    const before = tunnelStatus(cr)
    const stamped = (said: Parameters<typeof conditionsOf>[0]) => ({
      conditions: stampConditions(conditionsOf(said, before), before.conditions ?? [], generationOf(cr), clock.now()),
      observedGeneration: generationOf(cr),
    })
    // A change of the account wakes it.
    const accountRef = accountOf(this.#context, this.#descriptorOf(cr), cr) ?? before.accountRef
    const { leftMs, isNew = false } = plan?.scale ?? {}
    const message = contestedText(cr.metadata.name)
    const events = isNew ? [{ type: 'Warning', reason: reasons.Contested, message } as const] : []
    if (result.type !== 'kept') return { status: { ...before, accountRef, ...stamped(result) }, events }
    const kept = result.parts.find(({ type }) => type.kind === deploymentType.kind)
    const deployment = kept?.stored as Deployment | undefined
    const wanted = replicasOf(cr.spec)
    const online = Math.min(wanted, onlineIn(deployment))
    const error = online < wanted ? await this.#lastError(cr) : undefined
    const contested = leftMs === undefined ? undefined : message
    // It was in sync with what was written last, or has been written now.
    const template = templateDigest(deployment)
    const status = {
      ...before,
      ...plan?.status,
      accountRef,
      wanted,
      replicas: deployment?.status?.replicas ?? 0,
      selector: podSelector(cr.metadata.name),
      online,
      ...(template === undefined ? {} : { internal: { template } }),
      ...stamped({ type: 'kept', online, wanted, error, contested }),
    }
    const now = clock.now()
    const dues = duesOf({ ...cr, status: status as TunnelResource['status'] & object }, now)
    const soonest = Math.min(
      ...dues.map((at) => Math.max(1000, at - now)),
      online < wanted ? DISCONNECTED_MS : Number.POSITIVE_INFINITY,
      leftMs ?? Number.POSITIVE_INFINITY,
    )
    return { status, events, dueMs: Number.isFinite(soonest) ? soonest : undefined }
  }

  #descriptorOf({ kind }: TunnelResource): ComposedDescriptor {
    const descriptor = this.#context.kinds.composed.find(({ definition }) => definition.kind === kind)
    if (descriptor === undefined) throw new Error(`${kind} is not a kind of Tunnel`)
    return descriptor
  }

  async #lastError({ metadata: { namespace, name } }: TunnelResource): Promise<string | undefined> {
    return lastError((await this.#context.kube.list(pods, { namespace, labelSelector: podSelector(name) })).items)
  }
}

/** Whose number of agents is left for a while, and what to do. */
function contestedText(tunnel: string): string {
  return `Deployment/${workloadName(tunnel)} is scaled by another client: have that client scale Tunnel/${tunnel} instead, for example with scaleTargetRef of a HorizontalPodAutoscaler`
}
