import { KubeError } from '../../kube/kube-error.ts'
import { pods } from '../../kube/streams.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import type { AccountName } from '../attempt.ts'
import { LASTING_MS, saidOf } from '../composed/failed.ts'
import { templateDigest } from '../composed/stored-template.ts'
import { isDeleting, isPaused, nameOf, nameText, type ResourceName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { ComposedDescriptor } from '../descriptor/tunnel.ts'
import { TEMPLATE_DIGEST } from '../names.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { TunnelContext } from './context.ts'
import { duesOf, expectedKey, TunnelCredentials } from './credentials.ts'
import { type Deployment, onlineIn } from './deployment.ts'
import { podSelector, replicasOf, tunnelObjects } from './objects.ts'
import type { AgentFacts } from './pod.ts'
import { lastError, refusedPods } from './pod-problems.ts'
import { accountOf, type Route, routeOf } from './route.ts'
import { Scaling } from './scaling.ts'
import { writeStatus } from './status-writer.ts'
import { deploymentType, type TunnelResource, tunnelStatus, workloadName } from './tunnel-resource.ts'

/** How often agents that are not connected are asked why. */
const DISCONNECTED_MS = 30_000

/**
 * Keeps what a Tunnel consists of: a key or token and its credential, then the agents that use them. Everything is
 * owned by the Tunnel, so that the garbage collector deletes it (docs/decisions/0041-tunnels-are-composed.md).
 */
export class TunnelReconciler {
  readonly #context: TunnelContext
  readonly #credentials: TunnelCredentials
  readonly #scaling = new Scaling()

  constructor(context: TunnelContext) {
    this.#context = context
    this.#credentials = new TunnelCredentials(context)
  }

  async reconcile(name: ResourceName): Promise<Outcome> {
    const { kinds, resources } = this.#context
    const cr = resources.tunnel(name)
    const descriptor = kinds.composed.find(({ definition }) => definition.kind === name.kind)
    if (cr === undefined) this.#scaling.forget(nameText(name))
    if (cr === undefined || descriptor === undefined || isDeleting(cr) || isPaused(cr)) return done
    try {
      return await this.#keep(descriptor, cr)
    } catch (error) {
      return await this.#excuse(descriptor, resources.tunnel(name) ?? cr, error)
    }
  }

  async #keep(descriptor: ComposedDescriptor, fresh: TunnelResource): Promise<Outcome> {
    const route = routeOf(this.#context, descriptor, fresh)
    const deployment = this.#deployment(fresh)
    await this.#checkTemplate(fresh, route, deployment)
    const planned = await this.#credentials.plan(descriptor, fresh, deployment)
    const issued = await this.#credentials.issue(descriptor, planned)
    const { mounted, version, cr } = await this.#credentials.keep(descriptor, issued, route)
    const { name, namespace = '' } = cr.metadata
    const { labels } = route
    let kept = deployment
    const agent = agentOf(cr, route, version)
    const { internal } = tunnelStatus(cr)
    const { clock } = this.#context
    const now = clock.monotonic()
    const scale = this.#scaling.decide(nameText(nameOf(cr)), replicasOf(cr.spec), deployment?.spec?.replicas, now)
    if (scale.isNew) this.#warn(cr, { reason: reasons.Contested, message: contestedText(name) })
    const facts = { name, namespace, labels, key: mounted, agent }
    for (const wanted of tunnelObjects(cr.spec, facts, scale.leftMs !== undefined)) {
      const stored = await this.#context.objects.keep(cr, wanted, internal?.template)
      if (wanted.type.kind === deploymentType.kind) kept = stored as Deployment
    }
    const retired = await this.#credentials.retire(descriptor, cr, kept, mounted)
    return await this.#report(descriptor, retired, { accountRef: route.accountRef, leftMs: scale.leftMs }, kept)
  }

  /**
   * Has the API server check Pods that are new, before anything is created or changed for them.
   *
   * @throws TerminalError if it refuses them
   */
  async #checkTemplate(cr: TunnelResource, route: Route, deployment: Deployment | undefined): Promise<void> {
    const { spec, metadata } = cr
    if (spec.template === undefined && spec.agent === undefined) return
    const { name, namespace = '' } = metadata
    const { mounted: key, version } = expectedKey(cr, deployment)
    const agent = agentOf(cr, route, version)
    const objects = tunnelObjects(spec, { name, namespace, labels: route.labels, key, agent })
    for (const wanted of objects.filter(({ type }) => type.kind === deploymentType.kind)) {
      const isNew = wanted.annotations[TEMPLATE_DIGEST] !== deployment?.metadata.annotations?.[TEMPLATE_DIGEST]
      if (isNew) await this.#context.objects.check(cr, wanted).catch(refusedPods(spec))
    }
  }

  #deployment(cr: TunnelResource): Deployment | undefined {
    const { namespace, name } = cr.metadata
    return this.#context.objects.known(deploymentType, { namespace, name: workloadName(name) }) as
      | Deployment
      | undefined
  }

  async #report(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    { accountRef, leftMs }: { readonly accountRef: AccountName; readonly leftMs: number | undefined },
    deployment: Deployment | undefined,
  ): Promise<Outcome> {
    const { name } = cr.metadata
    const wanted = replicasOf(cr.spec)
    const replicas = deployment?.status?.replicas ?? 0
    const online = Math.min(wanted, onlineIn(deployment))
    const error = online < wanted ? await this.#lastError(cr) : undefined
    // It was in sync with what was written last, or has been written now.
    const template = templateDigest(deployment)
    const internal = template === undefined ? {} : { internal: { template } }
    const status = {
      ...tunnelStatus(cr),
      accountRef,
      wanted,
      replicas,
      selector: podSelector(name),
      online,
      ...internal,
    }
    const contested = leftMs === undefined ? undefined : contestedText(name)
    const said = { type: 'kept', online, wanted, error, contested } as const
    const written = await writeStatus(this.#context, { descriptor, cr }, status, said)
    return outcomeOf(written, { isDisconnected: online < wanted, leftMs }, this.#context.clock.now())
  }

  async #lastError({ metadata: { namespace, name } }: TunnelResource): Promise<string | undefined> {
    return lastError((await this.#context.kube.list(pods, { namespace, labelSelector: podSelector(name) })).items)
  }

  async #excuse(descriptor: ComposedDescriptor, cr: TunnelResource, error: unknown): Promise<Outcome> {
    const said = saidOf(error)
    if (said === undefined) return { type: 'backoff', error }
    try {
      // A change of the account wakes it.
      const accountRef = accountOf(this.#context, descriptor, cr) ?? tunnelStatus(cr).accountRef
      await writeStatus(this.#context, { descriptor, cr }, { ...tunnelStatus(cr), accountRef }, said)
    } catch (failure) {
      return { type: 'backoff', error: failure }
    }
    if (said.type === 'stalled') this.#warn(cr, said)
    if (error instanceof KubeError) return { type: 'backoff', error }
    const ms = error instanceof WaitError ? error.retryMs : LASTING_MS
    return { type: 'after', ms, reason: said.reason, priority: 'drift' }
  }

  #warn(
    cr: TunnelResource,
    { reason, message }: { readonly reason: keyof typeof reasons; readonly message: string },
  ): void {
    this.#context.events.record(cr, { type: 'Warning', reason, message })
  }
}

/** Which agent runs, as the spec says. */
function agentOf({ spec: { agent } }: TunnelResource, { ssh }: Route, version: string | undefined): AgentFacts {
  if (agent !== undefined) return { type: 'foreign', spec: agent, version }
  if (ssh === undefined) throw new Error('a route without a gateway is of another agent')
  return { type: 'own', ...ssh }
}

/** Whose number of agents is left for a while, and what to do. */
function contestedText(tunnel: string): string {
  return `Deployment/${workloadName(tunnel)} is scaled by another client: have it scale Tunnel/${tunnel}, as a HorizontalPodAutoscaler with that scaleTargetRef does`
}

/** When a Tunnel is due again by itself. */
function outcomeOf(
  cr: TunnelResource,
  { isDisconnected, leftMs }: { readonly isDisconnected: boolean; readonly leftMs: number | undefined },
  now: number,
): Outcome {
  const dues = duesOf(cr, now).map((at) => Math.max(1000, at - now))
  const never = Number.POSITIVE_INFINITY
  const soonest = Math.min(...dues, isDisconnected ? DISCONNECTED_MS : never, leftMs ?? never)
  return Number.isFinite(soonest) ? { type: 'after', ms: soonest, reason: 'the next step', priority: 'poll' } : done
}
