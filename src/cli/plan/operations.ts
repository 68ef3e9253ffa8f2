import type { RemoteObject } from '../../api/types.ts'
import { changesOf, type FieldChange } from '../../managed/approval/field-changes.ts'
import type { ResourceName } from '../../managed/cr.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { isPlaceholder } from './answers.ts'
import type { PlannedWrite } from './dry-account.ts'
import { type Mark, marksOf } from './marks.ts'

/** One request of a plan, as people see it. */
export interface PlanOperation {
  readonly action: PlannedWrite['method']
  /** The resource for which the request is made. */
  readonly resource: ResourceName
  /** Path of the collection at the API. */
  readonly collection: string
  /** Id of the object; of a create, its placeholder. */
  readonly id: string
  readonly reason: WriteReason
  /** The object exists only until another of these operations deletes it: it keeps something from being empty. */
  readonly isTemporary: boolean
  readonly changes: readonly FieldChange[]
  /** Why somebody should look at it first; none for most. */
  readonly marks: readonly Mark[]
}

/** What of a plan its requests do not say themselves. */
interface Surroundings {
  /** Ids of the objects that list who may call the API, as the account enforces it. */
  readonly guards: ReadonlySet<string>
  /** For each write to a part of an object: the other parts at that time. */
  readonly others: ReadonlyMap<PlannedWrite, readonly RemoteObject[]>
  /** Whether it is known what was applied before: without that, every update is for the spec. */
  readonly knowsCauses: boolean
}

/** The operations of a plan, in the order of the requests. */
export function operationsOf(
  kinds: KindsRegistry,
  writes: readonly PlannedWrite[],
  { guards, knowsCauses, others }: Surroundings,
): readonly PlanOperation[] {
  const deleted = new Set(writes.flatMap(({ method, id }) => (method === 'delete' ? [id] : [])))
  return writes.map((write) => {
    const { kind, namespace, name } = write.origin.resource
    const descriptor = kinds.managedKind(kind)
    const isTemporary = isPlaceholder(write.id) && deleted.has(write.id)
    return {
      action: write.method,
      resource: { kind, namespace, name },
      collection: write.collection.path,
      id: write.id,
      reason: knowsCauses || !OF_UPDATES.has(write.origin.reason) ? write.origin.reason : writeReasons.spec,
      isTemporary,
      changes: changesOf(descriptor, write),
      marks: isTemporary ? [] : marksOf(kinds, write, guards, others.get(write)),
    }
  })
}

/** Reasons that follow from what was applied before. */
const OF_UPDATES: ReadonlySet<WriteReason> = new Set([writeReasons.dependency, writeReasons.drift])
