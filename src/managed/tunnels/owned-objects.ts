import { KubeError } from '../../kube/errors.ts'
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../../kube/types.ts'
import { equalJSON } from '../../util/equal-json.ts'
import { isDeleting, shortName } from '../cr.ts'
import { TEMPLATE_DIGEST } from '../names.ts'
import { ownershipOf, withOwner } from '../outputs/ownership.ts'
import { TerminalError, WaitError } from '../reconcile/errors.ts'
import { mergePatch } from '../status/merge-patch.ts'
import { reasons } from '../status/reasons.ts'
import { covers } from './covers.ts'
import type { WantedObject } from './objects.ts'

/** The deletion of an object wakes its owner; this is only the fallback. */
const DELETING_MS = 10_000

export interface OwnedObjectsOptions {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'delete'>
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

  constructor(options: OwnedObjectsOptions) {
    this.#options = options
  }

  known(type: ResourceType, key: ObjectKey): KubeObject | undefined {
    return this.#options.known(type, key)
  }

  /** The object, with everything that is wanted of it. @throws TerminalError if somebody else owns it. */
  async keep(owner: KubeObject, wanted: WantedObject): Promise<KubeObject> {
    const { type, name, labels, annotations, content } = wanted
    const key = { namespace: owner.metadata.namespace, name }
    const found = this.#options.known(type, key)
    // What a watch shows is ours, or was: without its label, no watch shows it.
    const stored = found ?? (await this.make(owner, wanted))
    refuseForeign(stored, owner, type, name)
    if (cannotBecome(stored, wanted)) {
      await this.remove(owner, type, name)
      throw new WaitError(reasons.Progressing, `${text(type, name)} will be replaced`, DELETING_MS)
    }
    const body = { metadata: { labels, annotations }, ...content }
    if (covers(stored, body)) return stored
    const patch = withRemovals(stored, body)
    const written = await this.#options.kube.mergePatch(type, key, patch, { uid: stored.metadata.uid })
    this.#options.record(written)
    if (covers(written, body)) return written
    const message = `${text(type, name)} is not stored as Culvert writes it: see which admission webhook changes it`
    throw new TerminalError(reasons.KubernetesError, message)
  }

  /** Creates the object unless there is one of that name, which is returned as it is. @throws as `keep` */
  async make(owner: KubeObject, { type, name, labels, annotations, content }: WantedObject): Promise<KubeObject> {
    const { namespace } = owner.metadata
    const key = { namespace, name }
    const found = await this.#options.kube.get(type, key)
    if (found === undefined) {
      const group = type.group === '' ? '' : `${type.group}/`
      const metadata = { name, namespace, labels, annotations, ownerReferences: withOwner(undefined, owner) }
      const body = { apiVersion: `${group}${type.version}`, kind: type.kind, metadata, ...withoutNulls(content) }
      const made = await this.#options.kube.create(type, key, body)
      this.#options.record(made)
      return made
    }
    refuseForeign(found, owner, type, name)
    return found
  }

  /** Deletes the object if the owner owns it. */
  async remove(owner: KubeObject, type: ResourceType, name: string): Promise<void> {
    const { namespace } = owner.metadata
    const found = await this.#options.kube.get({ ...type, metadataOnly: true }, { namespace, name })
    if (found === undefined || ownershipOf(found, owner).type !== 'own') return
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

interface WithTemplate {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: { readonly template?: Readonly<Record<string, unknown>> }
}

/**
 * The body, and if another Pod template was written before, without what only that one had. The server fills in its
 * defaults again. What others have added since the last such write, such as the note of a restart, stays until then.
 */
function withRemovals(
  stored: KubeObject & WithTemplate,
  body: WithTemplate & Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { template } = body.spec ?? {}
  const [before, now] = [stored, body].map(({ metadata }) => metadata.annotations?.[TEMPLATE_DIGEST])
  if (template === undefined || before === now) return body
  return { ...body, spec: { ...body.spec, template: mergePatch(stored.spec?.template ?? {}, template) ?? {} } }
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
