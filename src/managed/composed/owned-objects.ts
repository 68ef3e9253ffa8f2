import { KubeError } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../../kube/types.ts'
import type { Clock } from '../../util/clock.ts'
import { equalJSON } from '../../util/json.ts'
import { isDeleting, shortName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { ownershipOf, withOwner } from '../ownership.ts'
import { ConflictError, TerminalError, WaitError } from '../run/control-flow-errors.ts'
import { covers } from './covers.ts'
import { Remakes } from './remakes.ts'
import { replacingPatch, templateDigest, templateIn } from './stored-template.ts'

/** What an owner consists of, without the reference to the owner. */
export interface WantedObject {
  readonly type: ResourceType
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** The other fields, such as `spec`. A field that is null must be absent. */
  readonly content: Readonly<Record<string, unknown>>
  /** Fields of its spec that it cannot change: if one differs, the object is deleted and made again. Default: none. */
  readonly fixed?: readonly string[]
}

/** The deletion of an object wakes its owner; this is only the fallback. */
const DELETING_MS = 10_000

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
 * Writes what Tunnels and Services own, and only if something differs. An object that the owner does not own is left
 * alone.
 */
export class OwnedObjects {
  readonly #options: OwnedObjectsOptions
  readonly #remakes: Remakes

  constructor(options: OwnedObjectsOptions) {
    this.#options = options
    this.#remakes = new Remakes(options.clock)
  }

  known(type: ResourceType, key: ObjectKey): KubeObject | undefined {
    return this.#options.known(type, key)
  }

  /**
   * The object, with everything that is wanted of it. Its Pod template, if it has one, is exactly the wanted one.
   *
   * @param written digest of the Pod template in the answer to the last write
   * @throws TerminalError if somebody else owns it. @throws ConflictError if it has changed while it was replaced
   */
  async keep(owner: KubeObject, wanted: WantedObject, written?: string): Promise<KubeObject> {
    const { type, name, content } = wanted
    const key = keyOf(owner, wanted)
    // What a watch shows is ours, or was: without its label, no watch shows it.
    const found = this.#options.known(type, key) ?? (await this.#options.kube.get(type, key))
    const stored = found ?? (await this.#create(owner, wanted))
    refuseForeign(stored, owner, type, name)
    this.#remakes.seen(owner.metadata.uid, text(type, name))
    if (cannotBecome(stored, wanted)) {
      await this.remove(owner, type, name)
      throw new WaitError(reasons.Progressing, `${text(type, name)} will be replaced`, DELETING_MS)
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
    const message = `${text(type, name)} is modified on admission: find the webhook that changes it`
    throw new TerminalError(reasons.KubernetesError, message)
  }

  /**
   * Makes the owner that of an object that a former one of its name has left behind, as `kubectl delete
   * --cascade=orphan` does: it has no owner, and still every mark of one. Nothing else of it changes.
   *
   * @returns whether there was such an object. @throws ConflictError if it has changed meanwhile
   */
  async takeBack(owner: KubeObject, { type, name, labels, annotations }: WantedObject): Promise<boolean> {
    const key = { namespace: owner.metadata.namespace, name }
    const found = this.#options.known(type, key)
    const isLeft = found?.metadata.ownerReferences === undefined || found.metadata.ownerReferences.length === 0
    if (found === undefined || !isLeft || isDeleting(found)) return false
    if (!covers(found.metadata, { labels, annotations })) return false
    const { uid, resourceVersion } = found.metadata
    const patch = { metadata: { ownerReferences: withOwner(found, owner) } }
    await this.#options.kube.mergePatch(type, key, patch, { uid, resourceVersion }).catch(outdated)
    return true
  }

  /** Creates the object unless there is one of that name, which is returned as it is. @throws as `keep` */
  async make(owner: KubeObject, wanted: WantedObject): Promise<KubeObject> {
    const { type, name } = wanted
    const found = await this.#options.kube.get(type, keyOf(owner, wanted))
    if (found === undefined) return await this.#create(owner, wanted)
    refuseForeign(found, owner, type, name)
    this.#remakes.seen(owner.metadata.uid, text(type, name))
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
    const { type, name } = wanted
    const object = text(type, name)
    await this.#confirm(owner, object)
    const made = await this.#options.kube.create(type, keyOf(owner, wanted), bodyOf(owner, wanted))
    this.#remakes.seen(owner.metadata.uid, object)
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
  async remove(owner: KubeObject, type: ResourceType, name: string): Promise<void> {
    const { namespace } = owner.metadata
    const found = await this.#options.kube.get({ ...type, metadataOnly: true }, { namespace, name })
    if (found === undefined || ownershipOf(found, owner).type !== 'own') return
    this.#remakes.removed(owner.metadata.uid, text(type, name))
    try {
      await this.#options.kube.delete(type, { namespace, name }, { uid: found.metadata.uid })
    } catch (error) {
      // It has been replaced by another object, which is not ours.
      if (!(error instanceof KubeError && error.code === 'Conflict')) throw error
    }
  }
}

/** Whether the object differs in a field that it cannot change. */
export function cannotBecome({ spec }: KubeObject, { content, fixed = [] }: WantedObject): boolean {
  const [has, wants] = [spec, content.spec].map((each) => each as Readonly<Record<string, unknown>> | undefined)
  return fixed.some((field) => !equalJSON(has?.[field], wants?.[field]))
}

function refuseForeign(object: KubeObject, owner: KubeObject, type: ResourceType, name: string): void {
  const about = text(type, name)
  const ownership = ownershipOf(object, owner).type
  // The garbage collector deletes it.
  if (ownership === 'namesake' && (object.metadata.ownerReferences ?? []).length > 0) {
    throw new WaitError(reasons.Progressing, `${about} of a former ${owner.kind} is being deleted`, DELETING_MS)
  }
  if (ownership !== 'own') {
    const { kind } = owner
    throw new TerminalError(
      reasons.OutputNotOwned,
      `${about} exists and does not belong to this ${kind}: delete or rename it, or give the ${kind} another name`,
    )
  }
  if (isDeleting(object)) throw new WaitError(reasons.Progressing, `${about} is being deleted`, DELETING_MS)
}

function keyOf({ metadata: { namespace } }: KubeObject, { name }: WantedObject): ObjectKey {
  return { namespace, name }
}

function bodyOf(owner: KubeObject, { type, name, labels, annotations, content }: WantedObject) {
  const { namespace } = owner.metadata
  const group = type.group === '' ? '' : `${type.group}/`
  const metadata = { name, namespace, labels, annotations, ownerReferences: withOwner(undefined, owner) }
  return { apiVersion: `${group}${type.version}`, kind: type.kind, metadata, ...withoutNulls(content) }
}

function isAsWanted(stored: KubeObject, { labels, annotations, content }: WantedObject): boolean {
  // Webhooks may add to a Pod template, such as a toleration.
  const lists = templateIn(content) === undefined ? 'exact' : 'longer'
  return covers(stored, { metadata: { labels, annotations }, ...content }, lists)
}

function patchOf(
  stored: KubeObject,
  { labels, annotations, content }: WantedObject,
): Readonly<Record<string, unknown>> {
  const body = { metadata: { labels, annotations }, ...content }
  const template = templateIn(content)
  if (template === undefined) return body
  const { spec } = content as { readonly spec: object }
  return { ...body, spec: { ...spec, template: replacingPatch(templateIn(stored) ?? {}, template) } }
}

function outdated(error: unknown): never {
  const isOutdated = error instanceof KubeError && (error.code === 'Conflict' || error.code === 'NotFound')
  throw isOutdated ? new ConflictError(error) : error
}

function withoutNulls(value: unknown): object {
  const strip = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(strip)
    if (typeof each !== 'object' || each === null) return each
    const entries = Object.entries(each).filter(([, field]) => field !== null)
    return Object.fromEntries(entries.map(([name, field]) => [name, strip(field)]))
  }
  return strip(value) as object
}

function text({ kind }: ResourceType, name: string): string {
  return shortName({ kind, name })
}
