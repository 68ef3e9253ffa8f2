import { allowsAddress } from '../../api/base-url.ts'
import { KubeError } from '../../kube/errors.ts'
import type { KubeClient, KubeObject } from '../../kube/types.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { done } from '../../runtime/outcome.ts'
import type { Clock } from '../../util/clock.ts'
import { type AccountKey, type AccountResource, accountKey } from '../accounts/account-resource.ts'
import {
  type CustomResource,
  generationOf,
  isDeleting,
  isPaused,
  type ResourceName,
  shortName,
  statusOf,
} from '../cr.ts'
import { type ComposedDescriptor, DEFAULT_REPLICAS, type TunnelStatus } from '../descriptor/tunnel.ts'
import type { AccountName } from '../identity/attempt.ts'
import { secretType } from '../inputs/inputs.ts'
import { type KindsRegistry, resourceTypeOf } from '../kinds-registry.ts'
import type { EventSink } from '../reconcile/context.ts'
import { ConflictError, TerminalError, WaitError } from '../reconcile/errors.ts'
import { openRequest, requestOf } from '../reconcile/requests.ts'
import { stampConditions } from '../status/conditions.ts'
import { mergePatch } from '../status/merge-patch.ts'
import { reasons } from '../status/reasons.ts'
import { lastError } from './agent-error.ts'
import { conditionsOf, LASTING_MS, type Said, saidOf } from './conditions.ts'
import { type Deployment, isRolledOut, mountedSecret, onlineIn } from './deployment.ts'
import { dueAt, planKey } from './key-plan.ts'
import { bindText, type MountedKey, marks, tunnelCredential, tunnelObjects } from './objects.ts'
import type { OwnedObjects } from './owned-objects.ts'
import {
  type Changed,
  deploymentType,
  keyName,
  LONGEST_NAME,
  PRIVATE_KEY,
  PUBLIC_KEY,
  podType,
  TUNNEL,
  type TunnelResource,
  tunnelStatus,
  workloadName,
} from './tunnel.ts'

/** What is waited for wakes the Tunnel; these are only fallbacks. */
const WAIT_MS = 60_000
/** How often agents that are not connected are asked why. */
const DISCONNECTED_MS = 30_000
/** How long a former key is kept once no new session uses it: longer than an agent drains. */
const RETIRE_MS = 60_000

/** What the administrator lets the agents of Tunnels be. */
export interface TunnelPolicy {
  /** Image of the agents. */
  readonly image: string
  /**
   * SSH gateways that accounts may name, as `host:port` or `*.suffix:port`: an agent must not become a way for a
   * namespace user to reach other addresses.
   */
  readonly gateways: readonly string[]
}

export interface TunnelResources {
  get(name: ResourceName): CustomResource | undefined
  account(key: AccountKey): AccountResource | undefined
  tunnel(name: ResourceName): TunnelResource | undefined
  /** Puts the answer to a write into the store at once. */
  record(object: KubeObject): void
}

export interface TunnelContext {
  readonly kinds: KindsRegistry
  readonly resources: TunnelResources
  readonly objects: OwnedObjects
  /** Undefined: there are no agents. */
  readonly policy: TunnelPolicy | undefined
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'mergePatch'>
  readonly events: EventSink
  readonly clock: Clock
}

/** Where the tunnel leads, and how. */
interface Route {
  readonly labels: Readonly<Record<string, string>>
  readonly accountRef: AccountName
  readonly gateway: NonNullable<AccountResource['spec']['sshGateway']>
  readonly image: string
}

/**
 * Keeps what a Tunnel consists of: a key and its SSHCredential, then the agents that use them. Everything is owned by
 * the Tunnel, so that the garbage collector deletes it (docs/decisions/0041-tunnels-are-composed.md).
 */
export class TunnelReconciler {
  readonly #context: TunnelContext

  constructor(context: TunnelContext) {
    this.#context = context
  }

  async reconcile(name: ResourceName): Promise<Outcome> {
    const { kinds, resources } = this.#context
    const cr = resources.tunnel(name)
    const descriptor = kinds.composed.find(({ definition }) => definition.kind === name.kind)
    if (cr === undefined || descriptor === undefined || isDeleting(cr) || isPaused(cr)) return done
    try {
      return await this.#keep(descriptor, cr)
    } catch (error) {
      return await this.#excuse(descriptor, resources.tunnel(name) ?? cr, error)
    }
  }

  async #keep(descriptor: ComposedDescriptor, fresh: TunnelResource): Promise<Outcome> {
    const route = this.#route(descriptor, fresh)
    const deployment = this.#deployment(fresh)
    let cr = await this.#planKey(descriptor, fresh, deployment)
    cr = await this.#issue(descriptor, cr)
    const key = await this.#credential(descriptor, cr, route)
    const { name, namespace = '' } = cr.metadata
    let kept = deployment
    for (const wanted of tunnelObjects(cr.spec, { ...route, name, namespace, key })) {
      const stored = await this.#context.objects.keep(cr, wanted)
      if (wanted.type.kind === deploymentType.kind) kept = stored as Deployment
    }
    cr = await this.#retire(descriptor, cr, kept, key)
    return await this.#report(descriptor, cr, route.accountRef, kept)
  }

  /** @throws WaitError or TerminalError while there is none. */
  #route(descriptor: ComposedDescriptor, cr: TunnelResource): Route {
    const { resources, policy } = this.#context
    if (policy === undefined) {
      const message = 'the operator runs no agents: have its administrator set tunnels.enabled of the chart'
      throw new TerminalError(reasons.TunnelsDisabled, message)
    }
    const { namespace = '', name } = cr.metadata
    if (name.length > LONGEST_NAME || name.includes('.')) {
      const message = `metadata.name takes at most ${LONGEST_NAME} characters and no dot: give the Tunnel another name`
      throw new TerminalError(reasons.InvalidSpec, message)
    }
    const target = { kind: descriptor.backend, namespace, name: cr.spec.backendRef.name }
    const about = `spec.backendRef: ${shortName(target)}`
    const backend = resources.get(target)
    if (backend === undefined) throw notReady(`${about} does not exist: create it or correct the name`)
    const labels = descriptor.labelsOf(backend.spec)
    if (labels === undefined) {
      throw new TerminalError(reasons.InvalidSpec, `${about} is not of type TunnelGroup: name one that is`)
    }
    const bind = bindText(labels)
    if ('problem' in bind) throw new TerminalError(reasons.InvalidSpec, `${about} ${bind.problem}`)
    const accountRef = this.#accountRef(descriptor, cr)
    if (accountRef === undefined) throw notReady(`${about} is in no account yet: check its conditions`)
    const gateway = resources.account(accountKey(accountRef, namespace))?.spec.sshGateway
    if (gateway === undefined) {
      throw notReady(`${shortName(accountRef)} does not say where the SSH gateway is: set its spec.sshGateway`)
    }
    if (!allowsAddress(gateway.address, policy.gateways)) {
      const { address } = gateway
      const message = `${shortName(accountRef)}: spec.sshGateway: "${address}" is not allowed: let the administrator add it to tunnels.gateways of the chart`
      throw new TerminalError(reasons.GatewayNotAllowed, message)
    }
    return { labels, accountRef, gateway, image: policy.image }
  }

  /** The account of the Backend. */
  #accountRef(
    descriptor: ComposedDescriptor,
    { metadata: { namespace }, spec }: TunnelResource,
  ): AccountName | undefined {
    const backend = this.#context.resources.get({ kind: descriptor.backend, namespace, name: spec.backendRef.name })
    const { accountRef } = backend === undefined ? {} : statusOf(backend)
    return accountRef === undefined ? undefined : { kind: accountRef.kind, name: accountRef.name }
  }

  #deployment(cr: TunnelResource): Deployment | undefined {
    const { namespace, name } = cr.metadata
    return this.#context.objects.known(deploymentType, { namespace, name: workloadName(name) }) as
      | Deployment
      | undefined
  }

  /** Decides which key there should be, and records it before anything is made or deleted. */
  async #planKey(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    deployment: Deployment | undefined,
  ): Promise<TunnelResource> {
    const status = tunnelStatus(cr)
    const { namespace, name } = cr.metadata
    const plan = planKey({
      tunnel: name,
      spec: cr.spec,
      status,
      requested: requestOf(cr, 'rotate'),
      isThere: status.key?.issuedAt === undefined || (await this.#isThere(namespace, status.key.name)),
      mounted: revisionOf(name, mountedSecret(deployment)),
      now: this.#context.clock.now(),
    })
    if (plan.formerKey !== undefined && plan.formerKey.revision !== status.formerKey?.revision) {
      const message = `key ${plan.formerKey.revision} is replaced: agents get the next one first`
      this.#context.events.record(cr, { type: 'Normal', reason: 'Rotating', message })
    }
    return await this.#write(descriptor, cr, { ...status, ...plan })
  }

  async #isThere(namespace: string | undefined, name: string): Promise<boolean> {
    return (await this.#context.kube.get({ ...secretType, metadataOnly: true }, { namespace, name })) !== undefined
  }

  /** Makes the key that was planned. A key that exists is never written again. */
  async #issue(descriptor: ComposedDescriptor, cr: TunnelResource): Promise<TunnelResource> {
    const status = tunnelStatus(cr)
    if (status.key === undefined || status.key.issuedAt !== undefined) return cr
    const { name } = status.key
    // Loaded for the first key only: the library is large.
    const { newKeyPair } = await import('../../ssh/new-key.ts')
    const { privateKey, publicKey } = newKeyPair()
    const data = { [PRIVATE_KEY]: base64(privateKey), [PUBLIC_KEY]: base64(`${publicKey}\n`) }
    await this.#context.objects.make(cr, {
      type: secretType,
      name,
      ...marks(cr.metadata.name),
      content: { type: 'Opaque', data },
    })
    const issuedAt = time(this.#context.clock.now())
    return await this.#write(descriptor, cr, { ...status, key: { ...status.key, issuedAt } })
  }

  /** The key that agents mount, once its credential can be used. @throws WaitError until then. */
  async #credential(descriptor: ComposedDescriptor, cr: TunnelResource, route: Route): Promise<MountedKey> {
    const { kinds, resources, objects } = this.#context
    const { credentialRef } = cr.spec
    const { namespace, name } = cr.metadata
    const { key } = tunnelStatus(cr)
    const own = credentialRef === undefined ? key : undefined
    if (own !== undefined) {
      const credential = kinds.managedKind(descriptor.credential)
      if (credential === undefined) throw new Error(`${descriptor.credential} is not a managed kind`)
      const wanted = tunnelCredential(name, own.revision, { ...route, type: resourceTypeOf(credential) })
      await objects.keep(cr, wanted)
    }
    const target = { kind: descriptor.credential, namespace, name: credentialRef?.name ?? own?.name ?? '' }
    const found = resources.get(target)
    const about = `${credentialRef === undefined ? '' : 'spec.credentialRef: '}${shortName(target)}`
    if (found === undefined) throw notReady(`${about} does not exist${own === undefined ? ': create it' : ' yet'}`)
    refuseUnready(found, about)
    return credentialRef === undefined
      ? { secret: target.name, key: PRIVATE_KEY }
      : { secret: credentialRef.privateKeySecretRef.name, key: credentialRef.privateKeySecretRef.key }
  }

  /** Deletes the former key and its credential, a while after the last agent with it was replaced. */
  async #retire(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    deployment: Deployment | undefined,
    key: MountedKey,
  ): Promise<TunnelResource> {
    const { clock, objects, kinds } = this.#context
    const status = tunnelStatus(cr)
    const { formerKey } = status
    if (formerKey === undefined || deployment === undefined) return cr
    if (mountedSecret(deployment) !== key.secret || !isRolledOut(deployment)) {
      return await this.#write(descriptor, cr, { ...status, formerKey: { revision: formerKey.revision } })
    }
    const retireAt = formerKey.retireAt ?? time(clock.now() + RETIRE_MS)
    if (Date.parse(retireAt) > clock.now()) {
      return await this.#write(descriptor, cr, { ...status, formerKey: { ...formerKey, retireAt } })
    }
    const name = keyName(cr.metadata.name, formerKey.revision)
    const credential = kinds.managedKind(descriptor.credential)
    if (credential !== undefined) await objects.remove(cr, resourceTypeOf(credential), name)
    await objects.remove(cr, secretType, name)
    return await this.#write(descriptor, cr, { ...status, formerKey: undefined })
  }

  async #report(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    accountRef: AccountName,
    deployment: Deployment | undefined,
  ): Promise<Outcome> {
    const wanted = cr.spec.replicas ?? DEFAULT_REPLICAS
    const online = Math.min(wanted, onlineIn(deployment))
    const error = online < wanted ? await this.#lastError(cr) : undefined
    const status = { ...tunnelStatus(cr), accountRef, wanted, online }
    const written = await this.#write(descriptor, cr, status, { type: 'kept', online, wanted, error })
    return outcomeOf(written, online < wanted, this.#context.clock.now())
  }

  async #lastError({ metadata: { namespace, name } }: TunnelResource): Promise<string | undefined> {
    const labelSelector = `${TUNNEL}=${name}`
    return lastError((await this.#context.kube.list(podType, { namespace, labelSelector })).items)
  }

  async #excuse(descriptor: ComposedDescriptor, cr: TunnelResource, error: unknown): Promise<Outcome> {
    const said = saidOf(error)
    if (said === undefined) return { type: 'backoff', error }
    try {
      // A change of the account wakes it.
      const accountRef = this.#accountRef(descriptor, cr) ?? tunnelStatus(cr).accountRef
      await this.#write(descriptor, cr, { ...tunnelStatus(cr), accountRef }, said)
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

  /** Writes the status, if it differs, on the version from which it was decided. */
  async #write(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    after: Changed<TunnelStatus>,
    said?: Said,
  ): Promise<TunnelResource> {
    const before = tunnelStatus(cr)
    const generation = generationOf(cr)
    const conditions =
      said === undefined
        ? before.conditions
        : [
            ...stampConditions(
              conditionsOf(said, before),
              before.conditions ?? [],
              generation,
              this.#context.clock.now(),
            ),
          ]
    const next = { ...after, conditions, ...(said === undefined ? {} : { observedGeneration: generation }) }
    const patch = mergePatch(before, next)
    if (patch === undefined) return cr
    const { namespace, name, uid, resourceVersion } = cr.metadata
    const options = { uid, resourceVersion, subresource: 'status' } as const
    try {
      const type = resourceTypeOf(descriptor)
      const written = await this.#context.kube.mergePatch<TunnelResource>(
        type,
        { namespace, name },
        { status: patch },
        options,
      )
      this.#context.resources.record(written)
      return written
    } catch (error) {
      if (error instanceof KubeError && (error.code === 'Conflict' || error.code === 'NotFound'))
        throw new ConflictError(error)
      throw error
    }
  }
}

function notReady(message: string): WaitError {
  return new WaitError(reasons.ReferenceNotReady, message, WAIT_MS)
}

/** Agents start only with a credential that permits what they bind: otherwise the gateway would refuse them. */
function refuseUnready(credential: CustomResource, about: string): void {
  for (const type of ['Ready', 'Synced']) {
    const condition = statusOf(credential).conditions?.find((each) => each.type === type)
    const isCurrent = condition?.observedGeneration === generationOf(credential)
    if (condition?.status === 'True' && isCurrent) continue
    const why = condition === undefined || !isCurrent ? 'is being reconciled' : `is not ${type}: ${condition.message}`
    throw notReady(`${about} ${why}`)
  }
}

/** When a Tunnel is due again by itself. */
function outcomeOf(cr: TunnelResource, isDisconnected: boolean, now: number): Outcome {
  const { formerKey } = tunnelStatus(cr)
  const retireAt = formerKey?.retireAt === undefined ? undefined : Date.parse(formerKey.retireAt)
  // A request made while there was a former key has waited until now.
  const nextAt = openRequest(cr, 'rotate') === undefined ? dueAt(cr.spec, tunnelStatus(cr)) : now
  const due = [retireAt, formerKey === undefined ? nextAt : undefined]
    .filter((at) => at !== undefined)
    .map((at) => Math.max(1000, at - now))
  const soonest = Math.min(...due, isDisconnected ? DISCONNECTED_MS : Number.POSITIVE_INFINITY)
  return Number.isFinite(soonest) ? { type: 'after', ms: soonest, reason: 'the next step', priority: 'poll' } : done
}

/** The revision in the name of a Secret that Culvert made for that Tunnel. */
function revisionOf(tunnel: string, secret: string | undefined): number | undefined {
  const revision = Number(secret?.slice(keyName(tunnel, 0).length - 1))
  return Number.isSafeInteger(revision) && revision > 0 && secret === keyName(tunnel, revision) ? revision : undefined
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
