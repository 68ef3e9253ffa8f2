import type { KubeObject } from '../../kube/types.ts'
import { type CustomResource, nameOf } from '../cr.ts'
import { REMOTE_ID } from '../names.ts'

/**
 * The annotation `internal.culvert.dev/id`: which object a CR holds once `rawMetadata` or the name of a bot has
 * replaced the marker.
 */
export interface OwnershipNote {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly id: string
  /**
   * Keyed digest of the other fields, made with the account's API key. Anyone who may edit a CR can write its
   * annotations, but only the holder of the key can attest that an object of the account belongs to it.
   */
  readonly seal: string
}

/** Computes the seal of a text; provided by the account's session. */
export type Seal = (text: string) => string

/** The annotation's text: `namespace/name/uid/id/seal`. */
export function formatOwnership(note: Omit<OwnershipNote, 'seal'>, seal: Seal): string {
  const said = sealedPart(note)
  return `${said}/${seal(said)}`
}

/** Parses the annotation; undefined if it is absent or not in that form. The seal is not checked. */
export function parseOwnership(text: string | undefined): OwnershipNote | undefined {
  const parts = text?.split('/') ?? []
  const [namespace, name, uid, id, seal] = parts
  if (parts.length !== 5 || !namespace || !name || !uid || !id || !seal) return undefined
  return { namespace, name, uid, id, seal }
}

/** The note that a CR carries about itself; undefined if there is none or it was copied from another CR. */
export function ownNote({ metadata }: KubeObject): OwnershipNote | undefined {
  const { annotations, namespace = '', name, uid } = metadata
  const note = parseOwnership(annotations?.[REMOTE_ID])
  return note?.namespace === namespace && note.name === name && note.uid === uid ? note : undefined
}

/** Whether the note was written with the key that `seal` uses now. */
export function isSealed(note: OwnershipNote, seal: Seal): boolean {
  return note.seal === seal(sealedPart(note))
}

/** What the annotation `internal.culvert.dev/id` says of a CR that has no id in its status. */
export type RecordedOwnership =
  | { readonly type: 'none' }
  /** The CR itself held the object and lost its status. */
  | { readonly type: 'own'; readonly id: string }
  /**
   * A CR of the same name with another UID held the object, or that cannot be determined: only a hint, which permits
   * nothing.
   */
  | { readonly type: 'hint'; readonly id: string }

/**
 * Reads the annotation. One that names another CR was copied with a manifest and is ignored. One whose seal does not
 * match the account's key, because the key has changed or the annotation was forged, is only a hint.
 */
export function recordedOwnership(cr: CustomResource, seal: Seal): RecordedOwnership {
  const note = parseOwnership(cr.metadata.annotations?.[REMOTE_ID])
  const { namespace, name } = nameOf(cr)
  if (note === undefined || note.namespace !== namespace || note.name !== name) return { type: 'none' }
  const own = note.uid === cr.metadata.uid && isSealed(note, seal)
  return own ? { type: 'own', id: note.id } : { type: 'hint', id: note.id }
}

function sealedPart({ namespace, name, uid, id }: Omit<OwnershipNote, 'seal'>): string {
  return [namespace, name, uid, id].join('/')
}
