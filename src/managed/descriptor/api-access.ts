import type { RemoteObject } from '../../api/types.ts'
import type { CommonSpec, Fields } from './common.ts'
import type { Desired } from './desired.ts'

/** How the objects of a kind decide who may call the API. */
export type APIAccess<Spec> = Admission<Spec> | APIRestriction<Spec> | KeyOwner

/** Objects that list addresses which may call the API, once an object of a kind with `restricts` refers to them. */
export interface Admission<Spec> {
  readonly type: 'admits'
  /** The kind that such restrictions refer to: this one, or the one whose part it is. */
  readonly kind: string
  /** Field of the spec that acknowledges that Culvert stays admitted. */
  readonly field: string
  acknowledged(spec: Fields): boolean
  /** Id of the object of `kind` that may admit fewer addresses after the change; undefined if none does. */
  narrows(change: AccessChange<Spec>): string | undefined
}

export interface AccessChange<Spec = CommonSpec> {
  /** The wanted state; undefined: the object is being deleted. */
  readonly desired: Desired<Spec> | undefined
  /** The current state; undefined: the object is not created yet. */
  readonly remote: RemoteObject | undefined
  readonly children: readonly RemoteObject[]
  /** The children of that parent in the collection of the object, as the account cache has them. */
  siblings(parentId: string): readonly RemoteObject[]
}

/** Objects that keep callers out of the API. */
export interface APIRestriction<Spec> {
  readonly type: 'restricts'
  /** Field of the spec that enables the restriction. */
  readonly field: string
  /** Whether an object of that spec restricts callers. */
  spec(spec: Spec): boolean
  /** Whether a remote object restricts callers. */
  object(remote: RemoteObject): boolean
}

/** Objects that own keys of the API, by being referred to from them. */
export interface KeyOwner {
  readonly type: 'owns-keys'
  /** Whether the API refuses their keys after an update of these fields. */
  silences(update: Fields): boolean
}
