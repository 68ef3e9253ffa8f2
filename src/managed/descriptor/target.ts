import type { RemoteObject } from '../../api/types.ts'
import type { CommonStatus } from './common.ts'
import type { Fields } from './fields.ts'

/** A CR as others see it. */
interface View {
  readonly generation: number
  /** It is being deleted. */
  readonly deleting: boolean
  readonly status: CommonStatus & Fields
}

/** A CR as its referrers see it. */
export interface TargetView extends View {
  readonly spec: Fields
  /** For a kind with `parts`: the CRs that are its parts. */
  readonly parts: readonly PartView[]
  /**
   * For a kind with `parts`: other CRs that refer to it and may have an object that depends on it, by their names in
   * messages.
   */
  readonly dependents: readonly string[]
}

/**
 * The account's view of the whole of a part, from lists that began after the deletion of the part was seen, or after
 * the part was found to need another object. Absent: not read yet.
 */
export interface AccountView {
  /** The other children of the whole, regardless of who created them, without placeholders. */
  readonly siblings?: readonly SiblingView[] | undefined
  /** The objects of the part itself, which would be deleted. Read together with `siblings`. */
  readonly own?: readonly RemoteObject[] | undefined
  /** The other CRs that are parts of the whole, with and without an object. Read together with `siblings`. */
  readonly parts?: readonly PartView[] | undefined
  /** Dependents of the whole, by their names in messages. */
  readonly dependents?: readonly string[] | undefined
}

/** What of the account can be asked for. */
export type Observable = 'siblings' | 'dependents'

/** A child other than that of a part, and the CR that holds it, if there is one. */
export interface SiblingView {
  readonly object: RemoteObject
  readonly holder: PartView | undefined
}

/** A CR that is part of another. */
export interface PartView extends View {
  readonly spec: Fields
  /** `Kind/name`. */
  readonly name: string
}

/** The decision about the object of a CR that is being deleted, or that needs another object. */
export type Release =
  | { readonly type: 'delete' }
  /** Depends on the account: read `at` from it and call again. */
  | { readonly type: 'observe'; readonly at: Observable }
  /** The object belongs to another owner by now. */
  | { readonly type: 'leave' }
  /** It has to stay for now; the message says why, and what helps. */
  | { readonly type: 'wait'; readonly message: string }

/**
 * Whether the conditions Ready and Synced are both True for the current spec: Ready alone stays True while a changed
 * spec is being applied.
 */
export function isInForce({ generation, status }: View): boolean {
  return ['Ready', 'Synced'].every((type) => {
    const condition = status.conditions?.find((candidate) => candidate.type === type)
    return condition?.status === 'True' && condition.observedGeneration === generation
  })
}
