import type { RemoteObject } from '../../api/types.ts'
import type { ResourceName } from '../../managed/cr.ts'
import type { ManagedDescriptor } from '../../managed/descriptor/descriptor.ts'
import type { Fields } from '../../managed/descriptor/fields.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { equalJSON } from '../../util/equal-json.ts'
import { isPlaceholder } from './answers.ts'
import type { PlannedWrite } from './dry-account.ts'
import { type Mark, marksOf } from './marks.ts'
import { ownKeysOf } from './own-keys.ts'

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

/** A field of the API that a request sets. */
export interface FieldChange {
  /** Path within the object, `ip_restriction.enforced`. */
  readonly path: string
  /** Undefined: there was none. */
  readonly old: unknown
  /** Undefined: it is removed. */
  readonly new: unknown
  /** The values may be secret and must not be shown; then both are absent. */
  readonly isSecret: boolean
}

/** What of a plan its requests do not say themselves. */
interface Surroundings {
  /** Ids of the objects that list who may call the API, as the account enforces it. */
  readonly guards: ReadonlySet<string>
  /** Whether it is known what was applied before: without that, every update is for the spec. */
  readonly knowsCauses: boolean
}

/** The operations of a plan, in the order of the requests. */
export function operationsOf(
  kinds: KindsRegistry,
  writes: readonly PlannedWrite[],
  { guards, knowsCauses }: Surroundings,
): readonly PlanOperation[] {
  const deleted = new Set(writes.flatMap(({ method, id }) => (method === 'delete' ? [id] : [])))
  return writes.map((write) => {
    const { kind, namespace, name } = write.origin.resource
    const descriptor = kinds.managedKind(kind)
    return {
      action: write.method,
      resource: { kind, namespace, name },
      collection: write.collection.path,
      id: write.id,
      reason: knowsCauses || !OF_UPDATES.has(write.origin.reason) ? write.origin.reason : writeReasons.spec,
      isTemporary: isPlaceholder(write.id) && deleted.has(write.id),
      changes: changesOf(descriptor, write),
      marks: marksOf(kinds, write, guards),
    }
  })
}

/** Reasons that follow from what was applied before. */
const OF_UPDATES: ReadonlySet<WriteReason> = new Set([writeReasons.dependency, writeReasons.drift])

function changesOf(descriptor: ManagedDescriptor | undefined, write: PlannedWrite): readonly FieldChange[] {
  const { body, before, collection } = write
  const isOwn = descriptor?.identity.collections.some(({ path }) => path === collection.path) ?? false
  const secret = isOwn ? (descriptor?.fields.secret ?? []) : []
  const found = before === undefined ? {} : foundIn(isOwn ? descriptor : undefined, before)
  const wanted = isOwn && descriptor !== undefined ? { ...body, ...descriptor.fields.comparable(body, before) } : body
  return Object.keys(body).flatMap((field): readonly FieldChange[] => {
    if (secret.includes(field)) return [{ path: field, old: undefined, new: undefined, isSecret: true }]
    return leaves(field, ownKeysOf(found[field]), ownKeysOf(wanted[field]))
  })
}

/** The fields of an object in the form in which they are sent, as far as its kind says. */
function foundIn(descriptor: ManagedDescriptor | undefined, object: RemoteObject): Fields {
  return { ...object, ...descriptor?.fields.observe(object) }
}

/** Members that differ, each by its own path; lists and texts as a whole. */
function leaves(path: string, old: unknown, next: unknown): readonly FieldChange[] {
  if (equalJSON(old ?? null, next ?? null)) return []
  if (!isFields(next) || !(isFields(old) || old === undefined || old === null)) {
    return [{ path, old: old ?? undefined, new: next ?? undefined, isSecret: false }]
  }
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(next)])]
  if (names.length === 0) return [{ path, old: old ?? undefined, new: next, isSecret: false }]
  return names.flatMap((name) => leaves(`${path}.${name}`, (old as Fields | undefined)?.[name], next[name]))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
