import type { KubeObject } from '../../kube/types.ts'
import { REMOTE_ID } from '../names.ts'

/** The annotation `internal.culvert.dev/id`: which object a CR holds, once `rawMetadata` or the name of a bot has replaced the marker. */
export interface OwnershipNote {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly id: string
  /**
   * Keyed digest of the rest, made with the account's API key. Whoever may edit a CR may write its annotations, but only who
   * holds the key can say that an object of the account belongs to it.
   */
  readonly seal: string
}

/** Makes the seal of a text; the account's session does. */
export type Seal = (text: string) => string

/** The annotation's text: `namespace/name/uid/id/seal`. */
export function formatOwnership(note: Omit<OwnershipNote, 'seal'>, seal: Seal): string {
  const said = sealedPart(note)
  return `${said}/${seal(said)}`
}

/** Reads the annotation; undefined when it is absent or not of that form. The seal is not checked. */
export function parseOwnership(text: string | undefined): OwnershipNote | undefined {
  const parts = text?.split('/') ?? []
  const [namespace, name, uid, id, seal] = parts
  if (parts.length !== 5 || !namespace || !name || !uid || !id || !seal) return undefined
  return { namespace, name, uid, id, seal }
}

/** The note that a CR bears of itself; undefined for none, and for one that was copied from another CR. */
export function ownNote({ metadata }: KubeObject): OwnershipNote | undefined {
  const { annotations, namespace = '', name, uid } = metadata
  const note = parseOwnership(annotations?.[REMOTE_ID])
  return note?.namespace === namespace && note.name === name && note.uid === uid ? note : undefined
}

/** Whether the note was written by somebody with the key that `seal` uses now. */
export function isSealed(note: OwnershipNote, seal: Seal): boolean {
  return note.seal === seal(sealedPart(note))
}

function sealedPart({ namespace, name, uid, id }: Omit<OwnershipNote, 'seal'>): string {
  return [namespace, name, uid, id].join('/')
}
