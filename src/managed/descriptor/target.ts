import type { RemoteObject } from '../../api/types.ts'
import type { CommonStatus } from './common.ts'
import type { Fields } from './descriptor.ts'

/** A CR as others see it. */
interface View {
  readonly generation: number
  /** It is being deleted. */
  readonly deleting: boolean
  readonly status: CommonStatus & Fields
}

/** A CR as those see it that refer to it. */
export interface TargetView extends View {
  readonly spec: Fields
  /** For a kind with `parts`: the CRs that make it up. */
  readonly parts: readonly PartView[]
  /**
   * For a kind with `parts`: other CRs that refer to it and may hold an object that uses its own, by the names that
   * messages give them.
   */
  readonly dependents: readonly string[]
}

/**
 * What lists of the account show about the whole of a part, begun after the deletion of the part was seen. Absent: not
 * looked up yet.
 */
export interface AccountView {
  /**
   * The other objects that make up the whole, whoever made them; what only stands in while one is being replaced is
   * none.
   */
  readonly siblings?: readonly SiblingView[] | undefined
  /** What uses the whole, by the names that messages give them. */
  readonly dependents?: readonly string[] | undefined
}

/** An object beside that of a part, and the CR that holds it, if there is one. */
export interface SiblingView {
  readonly object: RemoteObject
  readonly holder: PartView | undefined
}

/** A CR that is part of another. */
export interface PartView extends View {
  /** `Kind/name`. */
  readonly name: string
}

/** What becomes of the object of a CR that is being deleted. */
export type Release =
  | { readonly type: 'delete' }
  /** That depends on what the account holds: it is to be looked up, and asked again. */
  | { readonly type: 'look'; readonly at: keyof AccountView }
  /** It is somebody else's by now. */
  | { readonly type: 'leave' }
  /** It has to stay for now; the message says for what, and what helps. */
  | { readonly type: 'wait'; readonly message: string }

/**
 * True when the conditions Ready and Synced both hold for the current spec: Ready alone stays while a changed one is
 * being applied.
 */
export function isInForce({ generation, status }: View): boolean {
  return ['Ready', 'Synced'].every((type) => {
    const condition = status.conditions?.find((candidate) => candidate.type === type)
    return condition?.status === 'True' && condition.observedGeneration === generation
  })
}
