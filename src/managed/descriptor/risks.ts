import type { RemoteObject } from '../../api/types.ts'

/** Something in a change of an object that a person should look at before it is made. */
export interface Risk {
  /**
   * - `unprotected`: what protects a live object is taken away
   * - `opened`: more callers, addresses or names are let in than before
   */
  readonly type: 'unprotected' | 'opened'
  /** Says what of the object, in one line. */
  readonly text: string
}

/** One write to an object, for a judgement about it. Never a create of a whole new object, which opens nothing. */
export interface ObjectChange {
  /** Undefined: a part, such as a rule, is added to an object that was there before. */
  readonly before: RemoteObject | undefined
  /** Undefined: it is deleted. */
  readonly after: RemoteObject | undefined
  /** Of a part, where they are known: the other parts of the same whole at that time. */
  readonly others?: readonly RemoteObject[] | undefined
}

/** What of a change a person should look at; none for most changes. */
export type JudgeRisks = (change: ObjectChange) => readonly Risk[]

/** Of a request that deletes an object. */
export const DELETED = 'the object is deleted'
/** Of the requests that replace one object by another. */
export const REPLACED = 'a new object replaces the present one, which is deleted'
