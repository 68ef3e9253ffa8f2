import { JSON_TYPE } from '../http-client/send.ts'
import { KubeError } from './kube-error.ts'
import { apiVersion } from './request.ts'
import type { KubeList, KubeObject, ObjectKey, PatchOptions, ResourceType } from './types.ts'

/** The Accept header for one object of `type`. */
export function acceptObject(type: ResourceType): string {
  return type.metadataOnly ? partial('PartialObjectMetadata') : JSON_TYPE
}

/** The Accept header for a list of `type`. */
export function acceptList(type: ResourceType): string {
  return type.metadataOnly ? partial('PartialObjectMetadataList') : JSON_TYPE
}

/**
 * Without plain JSON as a fallback: a server that cannot reduce the object answers 406 instead of sending its content.
 */
function partial(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`
}

function metadataOf(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return (object.metadata as Readonly<Record<string, unknown>> | undefined) ?? {}
}

/** The object with the type and name of the call, whatever it had before. */
export function identified(type: ResourceType, key: ObjectKey, object: Readonly<Record<string, unknown>>) {
  const namespace = type.namespaced ? { namespace: key.namespace } : {}
  return {
    ...object,
    apiVersion: apiVersion(type),
    kind: type.kind,
    metadata: { ...metadataOf(object), name: key.name, ...namespace },
  }
}

/** The patch with its preconditions in the metadata. */
export function withPreconditions(patch: Readonly<Record<string, unknown>>, options: PatchOptions) {
  if (options.resourceVersion === undefined && options.uid === undefined) return patch
  return {
    ...patch,
    metadata: {
      ...metadataOf(patch),
      ...(options.resourceVersion === undefined ? {} : { resourceVersion: options.resourceVersion }),
      ...(options.uid === undefined ? {} : { uid: options.uid }),
    },
  }
}

interface RawObject {
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly status?: { readonly conditions?: readonly { message?: unknown }[] }
}

/**
 * An object as the rest of the program sees it: without managed fields, and with the requested type, which list items
 * lack and metadata-only reads replace with their own.
 * @param value as it was parsed, for nobody else
 */
export function normalise<T extends KubeObject>(type: ResourceType, value: unknown, texts: SharedTexts): T {
  const { metadata, ...rest } = value as RawObject
  if (metadata === undefined) throw new KubeError('Unexpected', `the server sent a ${type.kind} without metadata`)
  const { managedFields: _dropped, ...kept } = metadata
  for (const condition of rest.status?.conditions ?? []) {
    if (typeof condition.message === 'string') condition.message = texts.of(condition.message)
  }
  return { ...rest, apiVersion: texts.of(apiVersion(type)), kind: type.kind, metadata: kept } as unknown as T
}

/** A list from the server. `call` names the request in the error for an answer that is not a list. */
export function toList<T extends KubeObject>(
  type: ResourceType,
  value: unknown,
  call: string,
  texts: SharedTexts,
): KubeList<T> {
  const list = value as {
    readonly items?: readonly unknown[] | null
    readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  }
  const resourceVersion = list.metadata?.resourceVersion
  if (resourceVersion === undefined) {
    throw new KubeError('Unexpected', `${call}: the response is not a list`)
  }
  const items = (list.items ?? []).map((item) => normalise<T>(type, item, texts))
  const next = list.metadata?.continue
  return { items, resourceVersion, ...(next ? { continue: next } : {}) }
}

/** How many texts are shared at most. */
const MOST = 1000
/** A longer text says something about one object only. */
const LONGEST = 256

/** One copy of each text that many objects have in common, such as the messages of their conditions. */
export class SharedTexts {
  readonly #copies = new Map<string, string>()

  /** An equal text; the same one for all that ask while it is shared. */
  of(text: string): string {
    if (text.length > LONGEST) return text
    const shared = this.#copies.get(text)
    if (shared !== undefined) return shared
    // Texts that are no longer in use go with all others: those in use are soon shared again.
    if (this.#copies.size >= MOST) this.#copies.clear()
    this.#copies.set(text, text)
    return text
  }
}
