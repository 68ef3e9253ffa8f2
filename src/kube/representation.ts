import { KubeError } from './errors.ts'
import { apiVersion } from './paths.ts'
import type { KubeList, KubeObject, ObjectKey, PatchOptions, ResourceType } from './types.ts'

export const JSON_TYPE = 'application/json'

/** What to accept for one object of `type`. */
export function acceptObject(type: ResourceType): string {
  return type.metadataOnly ? partial('PartialObjectMetadata') : JSON_TYPE
}

/** What to accept for a list of `type`. */
export function acceptList(type: ResourceType): string {
  return type.metadataOnly ? partial('PartialObjectMetadataList') : JSON_TYPE
}

/** No plain JSON beside it: a server that cannot reduce the object answers 406 rather than with its content. */
function partial(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`
}

function metadataOf(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return (object.metadata as Readonly<Record<string, unknown>> | undefined) ?? {}
}

/** The object with the type and name that the call says, whatever it carried. */
export function identified(type: ResourceType, key: ObjectKey, object: Readonly<Record<string, unknown>>) {
  const namespace = type.namespaced ? { namespace: key.namespace } : {}
  return {
    ...object,
    apiVersion: apiVersion(type),
    kind: type.kind,
    metadata: { ...metadataOf(object), name: key.name, ...namespace },
  }
}

/** The patch with what must still hold of the object inside its metadata. */
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
}

/**
 * An object as the rest of the program sees it: without managed fields, and with the type asked for, which items of
 * lists leave out and metadata-only reads replace by their own.
 */
export function normalise<T extends KubeObject>(type: ResourceType, value: unknown): T {
  const { metadata, ...rest } = value as RawObject
  if (metadata === undefined) throw new KubeError('Unexpected', `the server sent a ${type.kind} without metadata`)
  const { managedFields: _dropped, ...kept } = metadata
  return { ...rest, apiVersion: apiVersion(type), kind: type.kind, metadata: kept } as unknown as T
}

/** A list as it came from the server. `call` names the request in the error for what is none. */
export function toList<T extends KubeObject>(type: ResourceType, value: unknown, call: string): KubeList<T> {
  const list = value as {
    readonly items?: readonly unknown[] | null
    readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  }
  const resourceVersion = list.metadata?.resourceVersion
  if (resourceVersion === undefined) {
    throw new KubeError('Unexpected', `${call}: the response is not a list`)
  }
  const items = (list.items ?? []).map((item) => normalise<T>(type, item))
  const next = list.metadata?.continue
  return { items, resourceVersion, ...(next ? { continue: next } : {}) }
}
