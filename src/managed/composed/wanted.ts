import type { KubeObject, ObjectKey, ResourceType } from '../../kube/types.ts'
import { applyMergePatch, equalJSON } from '../../util/json.ts'
import { generationOf, isDeleting, shortName } from '../cr.ts'
import type { Condition } from '../descriptor/common.ts'
import { withOwner } from '../ownership.ts'
import { covers } from './covers.ts'
import { replacingPatch, templateIn } from './stored-template.ts'

/** What an object does for the traffic of its owner. */
export type Role =
  /** Entries listen on it. It stays until none does: it could not be had back while its deletion waits for an entry. */
  | 'place'
  /** Lets clients in. It must be Synced, not only Ready: while an edit waits, it continues to serve as before. */
  | 'entry'
  /** Receives what entries forward. */
  | 'backend'
  /** Carries that into the cluster. */
  | 'tunnel'

/** What an owner consists of, without the reference to the owner. */
export interface WantedObject {
  readonly type: ResourceType
  readonly name: string
  /** Absent: it has no part in the traffic. */
  readonly role?: Role
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** The other fields, such as `spec`. A field that is null must be absent. */
  readonly content: Readonly<Record<string, unknown>>
  /** Fields of its spec that it cannot change: if one differs, the object is deleted and made again. Default: none. */
  readonly fixed?: readonly string[]
}

/** Where the object is, or will be: next to its owner. */
export function keyOf({ metadata: { namespace } }: KubeObject, { name }: WantedObject): ObjectKey {
  return { namespace, name }
}

/** Its name in messages. */
export function textOf({ type: { kind }, name }: Pick<WantedObject, 'type' | 'name'>): string {
  return shortName({ kind, name })
}

/** Whether the object differs in a field that it cannot change. */
export function cannotBecome({ spec }: KubeObject, { content, fixed = [] }: WantedObject): boolean {
  const [has, wants] = [spec, content.spec].map((each) => each as Readonly<Record<string, unknown>> | undefined)
  return fixed.some((field) => !equalJSON(has?.[field], wants?.[field]))
}

/** Whether the stored object says all that is wanted of it. */
export function isAsWanted(stored: KubeObject, { labels, annotations, content }: WantedObject): boolean {
  // Webhooks may add to a Pod template, such as a toleration.
  const lists = templateIn(content) === undefined ? 'exact' : 'longer'
  return covers(stored, { metadata: { labels, annotations }, ...content }, lists)
}

/**
 * Whether a former owner of that name has left the object behind, as `kubectl delete --cascade=orphan` does: it has no
 * owner, and still every mark of one.
 */
export function isLeftBehind(stored: KubeObject, { labels, annotations }: WantedObject): boolean {
  const { ownerReferences = [] } = stored.metadata
  return ownerReferences.length === 0 && !isDeleting(stored) && covers(stored.metadata, { labels, annotations })
}

/** The object to create, without its name: a merge patch of nothing leaves no nulls. */
export function bodyOf(owner: KubeObject, { labels, annotations, content }: WantedObject) {
  const metadata = { labels, annotations, ownerReferences: withOwner(undefined, owner) }
  return { metadata, ...(applyMergePatch({}, content) as object) }
}

/** The merge patch that makes the stored object as wanted. */
export function patchOf(
  stored: KubeObject,
  { labels, annotations, content }: WantedObject,
): Readonly<Record<string, unknown>> {
  const body = { metadata: { labels, annotations }, ...content }
  const template = templateIn(content)
  if (template === undefined) return body
  const { spec } = content as { readonly spec: object }
  return { ...body, spec: { ...spec, template: replacingPatch(templateIn(stored) ?? {}, template) } }
}

/** A condition of an object; undefined if it has none of that type. */
export function conditionIn({ status }: KubeObject, wanted: string): Condition | undefined {
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly Condition[] }
  return conditions?.find(({ type }) => type === wanted)
}

/** The condition Synced of a resource; undefined before its current spec has been reconciled. */
export function currentOf(object: KubeObject): Condition | undefined {
  const synced = conditionIn(object, 'Synced')
  return synced?.observedGeneration === generationOf(object) ? synced : undefined
}

/** Whether the remote object of a resource is as its spec says. */
export function isSettled(object: KubeObject): boolean {
  return currentOf(object)?.status === 'True'
}
