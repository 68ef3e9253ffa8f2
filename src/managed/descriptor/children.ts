import type { Collection, RemoteObject } from '../../api/types.ts'
import type { CommonStatus } from './common.ts'
import type { Desired } from './desired.ts'
import type { Fields } from './fields.ts'
import type { JudgeRisks } from './risks.ts'

/** Objects of another collection that the CR declares inline and owns completely (the rules of a policy). */
export interface Children<Spec> {
  /** Spec field that declares them; the drift metric counts children to create or delete under this name. */
  readonly field: string
  readonly collection: Collection
  /** Id of the parent that a child belongs to. */
  parentId(child: RemoteObject): string | undefined
  /** The writes that turn `current` (all children of the parent) into what the spec says, in a safe order. */
  plan(desired: Desired<Spec>, parentId: string, current: readonly RemoteObject[]): readonly ChildOperation[]
  /** What of a change of a child a person should look at first. */
  risks?: JudgeRisks
  /** Ids of the children that a status names. */
  idsIn(status: CommonStatus & Fields): readonly string[]
  /** Status fields about the children. */
  status(current: readonly RemoteObject[]): Fields
}

export type ChildOperation =
  | {
      readonly type: 'create'
      readonly body: Fields
      readonly about: string
      /** Sent without waiting for the create before it: neither needs the other. */
      readonly together?: true
      /**
       * Deleted again after the last write of the plan. If that does not happen, the next plan removes it as unwanted.
       */
      readonly placeholder?: true
    }
  | {
      readonly type: 'update'
      readonly id: string
      readonly body: Fields
      readonly about: string
      readonly fields: readonly string[]
    }
  | {
      readonly type: 'delete'
      readonly id: string
      readonly about: string
      /** Id of a child that must still exist: it is read live, and if it is gone the plan is computed again. */
      readonly beside?: string
    }
