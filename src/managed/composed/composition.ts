import type { KubeObject, ResourceType } from '../../kube/types.ts'
import type { ResourceName } from '../cr.ts'
import type { Fields } from '../descriptor/common.ts'
import type { Reason } from '../descriptor/reasons.ts'
import type { EventSink } from '../run/context.ts'
import type { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { Role, WantedObject } from './wanted.ts'

/** One write, or what is decided by one. A step that fails ends its course. */
export type Step =
  /**
   * Writes these fields of the owner's status, before what follows is made or deleted: a crash leaves nothing unknown.
   * Undefined removes a field.
   */
  | { readonly do: 'record'; readonly status: Fields; readonly events?: readonly Notice[] }
  /** Has the API server check an object. `explain` turns a refusal into what the status says. */
  | { readonly do: 'check'; readonly wanted: WantedObject; readonly explain: (error: unknown) => never }
  /** Creates an object that is never changed afterwards. Its content is made only if it is missing. */
  | { readonly do: 'make'; readonly wanted: () => Promise<WantedObject> }
  /**
   * Creates an object, or changes it to what is wanted.
   *
   * @param written digest of its Pod template in the answer to the last write
   */
  | { readonly do: 'keep'; readonly wanted: WantedObject; readonly written?: string | undefined }
  /** Takes over an object that a former owner of the same name has left behind. */
  | { readonly do: 'takeBack'; readonly type: ResourceType; readonly left: KubeObject }
  | { readonly do: 'remove'; readonly type: ResourceType; readonly name: string }

/** Steps of which each requires the one before. */
export interface Course {
  readonly steps: readonly Step[]
  /** Why something is still missing after these steps; undefined: nothing is. */
  readonly unfinished?: WaitError | TerminalError | undefined
}

/** What an owner should consist of, and how it gets there: decided purely, from the owner and what exists. */
export interface Composition {
  /** Independent of each other, such as the ports of a Service: one that fails does not stop the others. */
  readonly courses: readonly Course[]
  /** What the owner has and should not have, in the order of its deletion after all courses. */
  readonly surplus: readonly OwnedPart[]
  /** What the owner asks for and cannot have, whatever the courses achieve. */
  readonly problem?: Failed | undefined
}

/** An object that an owner has. */
export interface OwnedPart {
  readonly type: ResourceType
  readonly role?: Role | undefined
  readonly stored: KubeObject
}

/** Why an owner does not have everything. */
export interface Failed {
  /** `waiting`: something has to happen first. `stalled`: it lasts until a person changes something. */
  readonly type: 'waiting' | 'stalled'
  readonly reason: Reason
  readonly message: string
}

/** How a reconcile ended. `kept`: everything is made and as it is wanted. */
export type Result = { readonly type: 'kept'; readonly parts: readonly OwnedPart[] } | Failed

/** An Event. */
export type Notice = Parameters<EventSink['record']>[1]

/** What a reconcile writes at its end. */
export interface Report {
  /** The status, with its conditions; undefined removes a field. Equal to the stored one: nothing is written. */
  readonly status: Fields
  /** Annotations of parts, for their own reconcilers: a status has one writer. Null removes one. */
  readonly notes?: readonly {
    readonly part: OwnedPart
    readonly annotations: Readonly<Record<string, string | null>>
  }[]
  /** Besides the Warning for a new problem that needs a person. */
  readonly events?: readonly Notice[]
  /** Reconcile again after this many milliseconds. Absent: only when something changes. */
  readonly dueMs?: number | undefined
}

/**
 * A kind of owners. To add one, write `compose` as a pure function of the owner and what its watches show; the
 * reconciler does the rest.
 */
export interface ComposedKind<Owner extends KubeObject, Plan extends Composition = Composition> {
  /** The owner, as its watch has reported it. */
  find(name: ResourceName): Owner | undefined
  typeOf(kind: string): ResourceType
  /** Puts the response to a write of the owner into the store at once. */
  record(owner: Owner): void
  /** For owners that others may serve instead. Absent: Culvert serves every owner. */
  readonly serving?: {
    isServed(owner: Owner): boolean
    /** Everything that an owner of that name has. Once it is not served, it is deleted. */
    partsOf(name: ResourceName): readonly OwnedPart[]
    /** The status without what Culvert wrote. */
    withdrawn(owner: Owner): Fields
  }
  /** @throws WaitError or TerminalError if nothing can be decided yet */
  compose(owner: Owner): Plan | Promise<Plan>
  /** The owner is gone. */
  forget?(owner: KubeObject): void
  /** @param plan undefined if nothing could be decided */
  report(owner: Owner, result: Result, plan: Plan | undefined): Report | Promise<Report>
}
