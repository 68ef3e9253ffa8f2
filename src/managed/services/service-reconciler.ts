import type { KubeClient, KubeObject, ObjectKey } from '../../kube/types.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import type { Clock } from '../../util/clock.ts'
import { equalJSON } from '../../util/json.ts'
import { covers } from '../composed/covers.ts'
import { LASTING_MS } from '../composed/failed.ts'
import { cannotBecome, type OwnedObjects } from '../composed/owned-objects.ts'
import { type CustomResource, generationOf, isDeleting, isPaused, nameOf, shortName } from '../cr.ts'
import type { Condition } from '../descriptor/common.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { SERVICE_PROBLEM } from '../names.ts'
import { ownershipOf } from '../ownership.ts'
import { stampConditions } from '../run/conditions.ts'
import type { EventSink, Resources } from '../run/context.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import { patchVersion } from '../run/merge-patch.ts'
import { closed, closingOf } from './closing.ts'
import { type Failure, failureOf, outcomeOf } from './failures.ts'
import { noteFor } from './followed.ts'
import { isPlace, type PortObjects, type ServicePart, serviceObjects } from './objects.ts'
import type { ServiceParts } from './parts.ts'
import {
  type Ingress,
  isServed,
  SERVICE_READY,
  type ServicePolicy,
  type ServiceResource,
  serviceType,
} from './service.ts'
import { conditionOf, currentOf, ingressOf, isSettled, refusedBy, type ServiceSaid } from './service-status.ts'

/** The deletion of an object wakes its Service; this is only the fallback. */
const REPLACING_MS = 10_000

export interface ServiceContext {
  readonly kinds: KindsRegistry
  readonly resources: Resources
  readonly policy: ServicePolicy
  /** A Service of type LoadBalancer, as the watch has reported it. */
  readonly known: (key: ObjectKey) => ServiceResource | undefined
  /** Puts the answer to a write into the store at once. */
  readonly record: (service: ServiceResource) => void
  readonly parts: ServiceParts
  readonly objects: OwnedObjects
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>
  readonly events: EventSink
  readonly clock: Clock
}

/**
 * Keeps what a Service of type LoadBalancer and of Culvert's class consists of. Everything is owned by the Service, so
 * that the garbage collector deletes it (docs/decisions/0043-services-of-type-load-balancer.md).
 */
export class ServiceReconciler {
  readonly #context: ServiceContext

  constructor(context: ServiceContext) {
    this.#context = context
  }

  #isServed(service: ServiceResource): boolean {
    return isServed(service, this.#context.policy)
  }

  async reconcile(key: ObjectKey): Promise<Outcome> {
    const service = this.#context.known(key)
    try {
      if (service === undefined || !this.#isServed(service)) return await this.#withdraw(key)
      if (isDeleting(service) || isPaused(service)) return done
      return await this.#keep(service)
    } catch (error) {
      return { type: 'backoff', error }
    }
  }

  /** Of a Service that Culvert no longer serves, everything goes; that of a deleted one is the garbage collector's. */
  async #withdraw(key: ObjectKey): Promise<Outcome> {
    const { kube, parts } = this.#context
    const left = parts.of(key).filter((part) => !isDeleting(part))
    if (left.length === 0) return done
    const service = await kube.get<ServiceResource>(serviceType, key)
    if (service === undefined || isDeleting(service) || isPaused(service)) return done
    // The watch is behind, and will wake it again.
    if (this.#isServed(service)) return done
    await this.#write(service, undefined, [])
    await this.#remove(service, left)
    return done
  }

  async #keep(service: ServiceResource): Promise<Outcome> {
    const { kinds, parts, policy } = this.#context
    const wanted = serviceObjects(service, policy, (kind) => kinds.resourceType(kind))
    if ('refused' in wanted) {
      await this.#tell(service, refusedBy(wanted.refused))
      return done
    }
    const failures: Failure[] = []
    const kept: KubeObject[] = []
    for (const port of wanted.ports) {
      try {
        kept.push(...(await this.#keepPort(service, port)))
      } catch (error) {
        failures.push(failureOf(error))
      }
    }
    const names = new Set(wanted.ports.flatMap(({ objects }) => objects.map(partText)))
    // A place stays until no Edge uses it: otherwise it could not be had back while its deletion waits for the Edge.
    const haveMoved = failures.length === 0 && kept.every((part) => part.kind !== 'Edge' || isSettled(part))
    const surplus = parts.of(service.metadata).filter((part) => {
      return !names.has(shortName(nameOf(part))) && (haveMoved || !isPlace(part.kind))
    })
    await this.#remove(service, surplus)
    const said = failures.map((failure) => failure.said)
    const stalled = said.find(({ type }) => type === 'stalled')
    const problems = wanted.problems.length > 0 ? refusedBy(wanted.problems) : undefined
    await this.#tell(service, stalled ?? problems ?? said[0] ?? { type: 'kept', parts: kept })
    return outcomeOf(failures)
  }

  /** Makes and keeps the objects of a port; those that cannot become what is wanted are deleted first. */
  async #keepPort(service: ServiceResource, { objects }: PortObjects): Promise<readonly KubeObject[]> {
    await this.#takeBack(service, objects)
    const unfit = objects.filter((wanted) => this.#isUnfit(service, wanted))
    const outdated = objects.filter((wanted) => {
      return unfit.includes(wanted) || unfit.some(({ type }) => wanted.follows.some((kind) => kind === type.kind))
    })
    const left = outdated.flatMap((wanted) => this.#stored(service, wanted) ?? [])
    // What uses the others goes first: if this stops in between, nothing is left that still uses what goes.
    await this.#remove(service, left.toReversed())
    if (left.length > 0) {
      const message = `${left.map((part) => shortName(nameOf(part))).join(', ')} will be replaced`
      throw new WaitError(reasons.Progressing, message, REPLACING_MS)
    }
    // Before anything that may fail.
    const closing = await this.#close(service, objects)
    const kept: KubeObject[] = []
    for (const wanted of objects) {
      if (wanted !== closing?.edge) kept.push(await this.#context.objects.keep(service, wanted))
    }
    if (closing !== undefined) throw closing.error
    return kept
  }

  /**
   * Takes back what a former Service of that name has left behind.
   *
   * @throws WaitError if there was any: it is known as this Service's own once the watches show that
   */
  async #takeBack(service: ServiceResource, objects: readonly ServicePart[]): Promise<void> {
    const taken: string[] = []
    for (const wanted of objects) {
      if (await this.#context.objects.takeBack(service, wanted)) taken.push(partText(wanted))
    }
    if (taken.length === 0) return
    const message = `${taken.join(', ')} of a former Service are taken back`
    throw new WaitError(reasons.Progressing, message, REPLACING_MS)
  }

  /**
   * Closes the Edge of a port while it cannot be restricted as the Service asks.
   *
   * @returns what to say of it, and the Edge that must not be kept as the Service asks; undefined if it can
   */
  async #close(
    service: ServiceResource,
    objects: readonly ServicePart[],
  ): Promise<{ readonly edge?: ServicePart; readonly error: TerminalError | WaitError } | undefined> {
    for (const edge of objects.filter(({ type }) => type.kind === 'Edge')) {
      const stored = this.#stored(service, edge) as CustomResource | undefined
      const closing = stored && closingOf(this.#context, stored, edge)
      if (stored === undefined || closing === undefined) continue
      const { isRefused, turnsOff, why } = closing
      const reason = isRefused ? reasons.Rejected : reasons.ReferenceNotReady
      const until = `until its policies can be applied: ${why}`
      const error = new TerminalError(reason, `${partText(edge)} is closed ${until}`)
      if (!turnsOff) return { error }
      const kept = await this.#context.objects.keep(service, closed(this.#context, stored, edge, closing))
      if (isSettled(kept)) return { edge, error }
      const message = `${partText(edge)} is being closed ${until}`
      const isStuck = isRefused && currentOf(kept) !== undefined
      return {
        edge,
        error: isStuck
          ? new TerminalError(reasons.Rejected, message)
          : new WaitError(reasons.Progressing, message, LASTING_MS),
      }
    }
    return undefined
  }

  /** Whether the Service owns it, and it goes or has what cannot be changed. */
  #isUnfit(service: ServiceResource, wanted: ServicePart): boolean {
    const stored = this.#stored(service, wanted)
    return stored !== undefined && (isDeleting(stored) || cannotBecome(stored, wanted))
  }

  /** The object as it is known, if the Service owns it. */
  #stored(service: ServiceResource, { type, name }: ServicePart): KubeObject | undefined {
    const stored = this.#context.objects.known(type, { namespace: service.metadata.namespace, name })
    return stored !== undefined && ownershipOf(stored, service).type === 'own' ? stored : undefined
  }

  #own(service: ServiceResource): readonly KubeObject[] {
    return this.#context.parts.of(service.metadata).filter((part) => ownershipOf(part, service).type === 'own')
  }

  async #remove(service: ServiceResource, parts: readonly KubeObject[]): Promise<void> {
    const { kinds, objects } = this.#context
    for (const part of parts) {
      if (isDeleting(part)) continue
      await objects.remove(service, kinds.resourceType(part.kind), part.metadata.name)
    }
  }

  /** Reports in the status, and by an Event once it needs a person. */
  async #tell(service: ServiceResource, said: ServiceSaid): Promise<void> {
    await this.#note(service, said.type === 'stalled' ? noteFor(said) : undefined)
    const isNews = await this.#write(service, said, ingressOf(this.#own(service)))
    if (!isNews || said.type !== 'stalled') return
    this.#context.events.record(service, { type: 'Warning', reason: said.reason, message: said.message })
  }

  /** Notes on its Edges what a person has to mend, for a condition there; undefined removes it. */
  async #note(service: ServiceResource, note: string | undefined): Promise<void> {
    const { kinds, kube } = this.#context
    for (const { kind, metadata } of this.#own(service).filter((part) => part.kind === 'Edge' && !isDeleting(part))) {
      if (metadata.annotations?.[SERVICE_PROBLEM] === note) continue
      const patch = { metadata: { annotations: { [SERVICE_PROBLEM]: note ?? null } } }
      await kube.mergePatch(kinds.resourceType(kind), metadata, patch, { uid: metadata.uid })
    }
  }

  /**
   * Writes where the Service is reached, and its condition, if they differ. Without `said`, the condition is removed.
   *
   * @returns whether the condition says something else than before
   */
  async #write(service: ServiceResource, said: ServiceSaid | undefined, ingress: readonly Ingress[]): Promise<boolean> {
    const { clock, kube, record } = this.#context
    const { conditions = [], loadBalancer } = service.status ?? {}
    const before = conditions.find(({ type }) => type === SERVICE_READY)
    const texts = said === undefined ? [] : [conditionOf(said)]
    const [stamped] = stampConditions(texts, conditions, generationOf(service), clock.now())
    const after = stamped === undefined ? undefined : asStored(stamped)
    // The class is another's: so is where it is reached.
    const isForeign = service.spec.type === 'LoadBalancer' && !this.#isServed(service)
    const isReached = isForeign || covers(loadBalancer?.ingress ?? [], ingress)
    const isSaid = equalJSON(before, after)
    if (isReached && isSaid) return false
    const others = conditions.filter(({ type }) => type !== SERVICE_READY)
    const status = {
      ...(isReached ? {} : { loadBalancer: { ingress: ingress.length === 0 ? null : ingress } }),
      ...(isSaid ? {} : { conditions: after === undefined ? others : [...others, after] }),
    }
    const written = await patchVersion(kube, serviceType, service, { status }, 'status')
    if (this.#isServed(written)) record(written)
    return before?.reason !== after?.reason || before?.message !== after?.message
  }
}

/** Services of some versions of Kubernetes have no generation, and a condition of generation 0 is stored without it. */
function asStored({ observedGeneration = 0, ...condition }: Condition): Condition {
  return observedGeneration === 0 ? condition : { ...condition, observedGeneration }
}

function partText({ type, name }: ServicePart): string {
  return shortName({ kind: type.kind, name })
}
