import { KubeError } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../../kube/types.ts'
import type { Clock } from '../../util/clock.ts'
import { isDeleting } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { ownershipOf, withOwner } from '../ownership.ts'
import { ConflictError, TerminalError, WaitError } from '../run/control-flow-errors.ts'
import { Remakes } from './remakes.ts'
import { templateDigest, templateIn } from './stored-template.ts'
import { bodyOf, cannotBecome, isAsWanted, keyOf, patchOf, textOf, type WantedObject } from './wanted.ts'

/** The deletion of an object wakes its owner; this is only the fallback. */
export const DELETING_MS = 10_000

export interface OwnedObjectsOptions {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'delete'>
  /** Reads the owner from the API server; undefined if it is gone. */
  readonly readOwner: (owner: KubeObject) => Promise<KubeObject | undefined>
  readonly clock: Clock
  /** An object that a watch has reported; undefined if there is none, or its type is not watched. */
  readonly known: (type: ResourceType, key: ObjectKey) => KubeObject | undefined
  /** Puts the answer to a write into the store at once. */
  readonly record: (object: KubeObject) => void
}

/**
 * Writes what owners consist of, and only if something differs. An object that the owner does not own is left alone.
 */
export class OwnedObjects {
  readonly #options: OwnedObjectsOptions
  readonly #remakes: Remakes

  constructor(options: OwnedObjectsOptions) {
    this.#options = options
    this.#remakes = new Remakes(options.clock)
  }

  /**
   * The object, with everything that is wanted of it. Its Pod template, if it has one, is exactly the wanted one.
   *
   * @param written digest of the Pod template in the answer to the last write
   * @throws TerminalError if someone else owns it. @throws ConflictError if it has changed while it was replaced
   */
  async keep(owner: KubeObject, wanted: WantedObject, written?: string): Promise<KubeObject> {
    const { type, content } = wanted
    const key = keyOf(owner, wanted)
    // What a watch shows is ours, or was: without its label, no watch shows it.
    const found = this.#options.known(type, key) ?? (await this.#options.kube.get(type, key))
    const stored = found ?? (await this.#create(owner, wanted))
    refuseForeign(stored, owner, wanted)
    this.#remakes.seen(owner.metadata.uid, textOf(wanted))
    if (cannotBecome(stored, wanted)) {
      await this.remove(owner, wanted)
      throw new WaitError(reasons.Progressing, `${textOf(wanted)} will be replaced`, DELETING_MS)
    }
    const hasTemplate = templateIn(content) !== undefined
    const isOurs = !hasTemplate || found === undefined || templateDigest(stored) === written
    if (isOurs && isAsWanted(stored, wanted)) return stored
    // What another client adds to the template in between would otherwise look like the answer to our write.
    const { uid, resourceVersion } = stored.metadata
    const preconditions = hasTemplate ? { uid, resourceVersion } : { uid }
    const answer = await this.#options.kube
      .mergePatch(type, key, patchOf(stored, wanted), preconditions)
      .catch(outdated)
    this.#options.record(answer)
    if (isAsWanted(answer, wanted)) return answer
    const message = `${textOf(wanted)} is modified on admission: find the webhook that changes it`
    throw new TerminalError(reasons.KubernetesError, message)
  }

  /**
   * Makes the owner that of an object that a former one of its name has left behind. Nothing else of it changes.
   *
   * @throws ConflictError if it has changed meanwhile
   */
  async takeBack(owner: KubeObject, type: ResourceType, left: KubeObject): Promise<void> {
    const { uid, resourceVersion } = left.metadata
    const patch = { metadata: { ownerReferences: withOwner(left, owner) } }
    await this.#options.kube.mergePatch(type, left.metadata, patch, { uid, resourceVersion }).catch(outdated)
  }

  /** Creates the object unless there is one of that name, which is returned as it is. @throws as `keep` */
  async make(owner: KubeObject, wanted: WantedObject): Promise<KubeObject> {
    const found = await this.#options.kube.get(wanted.type, keyOf(owner, wanted))
    if (found === undefined) return await this.#create(owner, wanted)
    refuseForeign(found, owner, wanted)
    this.#remakes.seen(owner.metadata.uid, textOf(wanted))
    return found
  }

  /**
   * Has the API server check the object, without writing anything. Unknown fields are refused too.
   *
   * @throws KubeError if it refuses the object
   */
  async check(owner: KubeObject, wanted: WantedObject): Promise<void> {
    const { type } = wanted
    const { kube, known } = this.#options
    const key = keyOf(owner, wanted)
    const stored = known(type, key)
    try {
      if (stored === undefined) await kube.create(type, key, bodyOf(owner, wanted), { dryRun: true })
      else await kube.mergePatch(type, key, patchOf(stored, wanted), { uid: stored.metadata.uid, dryRun: true })
    } catch (error) {
      // The object is valid: the API server looks for one of that name last.
      if (!(error instanceof KubeError && error.code === 'AlreadyExists')) outdated(error)
    }
  }

  async #create(owner: KubeObject, wanted: WantedObject): Promise<KubeObject> {
    await this.#confirm(owner, textOf(wanted))
    const made = await this.#options.kube.create(wanted.type, keyOf(owner, wanted), bodyOf(owner, wanted))
    this.#remakes.seen(owner.metadata.uid, textOf(wanted))
    this.#options.record(made)
    return made
  }

  /**
   * Passes at once for an object that was not there before. One that is gone may have been collected with its owner,
   * while the watch of the owner is silent: it is made again only for the owner that the API server has, and ever more
   * rarely.
   *
   * @throws WaitError until it is due. @throws ConflictError if the owner is another by now, or gone
   */
  async #confirm(owner: KubeObject, object: string): Promise<void> {
    const { uid, resourceVersion } = owner.metadata
    const pause = this.#remakes.pauseMs(uid, object)
    if (pause === undefined) return
    if (pause > 0) {
      const message = `${object} was deleted again: find out what deletes it; Culvert will recreate it after a pause`
      throw new WaitError(reasons.Progressing, message, Math.ceil(pause))
    }
    const live = await this.#options.readOwner(owner)
    const isSame = live?.metadata.uid === uid && live.metadata.resourceVersion === resourceVersion
    if (live === undefined || !isSame || isDeleting(live)) throw new ConflictError(undefined)
    this.#remakes.count(uid, object)
  }

  /** The owner is gone. */
  forget(owner: KubeObject): void {
    this.#remakes.forget(owner.metadata.uid)
  }

  /** Deletes the object if the owner owns it. */
  async remove(owner: KubeObject, { type, name }: Pick<WantedObject, 'type' | 'name'>): Promise<void> {
    const { namespace } = owner.metadata
    const found = await this.#options.kube.get({ ...type, metadataOnly: true }, { namespace, name })
    if (found === undefined || ownershipOf(found, owner).type !== 'own') return
    this.#remakes.removed(owner.metadata.uid, textOf({ type, name }))
    try {
      await this.#options.kube.delete(type, { namespace, name }, { uid: found.metadata.uid })
    } catch (error) {
      // It has been replaced by another object, which is not ours.
      if (!(error instanceof KubeError && error.code === 'Conflict')) throw error
    }
  }
}

function refuseForeign(object: KubeObject, owner: KubeObject, wanted: WantedObject): void {
  const about = textOf(wanted)
  const ownership = ownershipOf(object, owner).type
  // The garbage collector deletes it.
  if (ownership === 'namesake' && (object.metadata.ownerReferences ?? []).length > 0) {
    throw new WaitError(reasons.Progressing, `${about} of a former ${owner.kind} is being deleted`, DELETING_MS)
  }
  if (ownership !== 'own') {
    const { kind } = owner
    throw new TerminalError(
      reasons.OutputNotOwned,
      `${about} exists and does not belong to this ${kind}: delete it, or choose another name for the ${kind}`,
    )
  }
  if (isDeleting(object)) throw new WaitError(reasons.Progressing, `${about} is being deleted`, DELETING_MS)
}

/** Rejects with a ConflictError if another client has changed or deleted what was written. */
export function outdated(error: unknown): never {
  const isOutdated = error instanceof KubeError && (error.code === 'Conflict' || error.code === 'NotFound')
  throw isOutdated ? new ConflictError(error) : error
}
