import type { RemoteObject } from '../../api/types.ts'
import { changesOf, type FieldChange } from '../../managed/approval/field-changes.ts'
import type { ResourceName } from '../../managed/cr.ts'
import type { ManagedDescriptor } from '../../managed/descriptor/descriptor.ts'
import { DELETED, REPLACED, type Risk } from '../../managed/descriptor/desired.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { isPlaceholder } from './answers.ts'
import type { DryAccount, PlannedWrite } from './dry-account.ts'

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
  /** Why someone should look at it first; none for most. */
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

/** Why someone should look at an operation before it is carried out. */
export interface Mark {
  /** As in `Risk`; `lockout`: who calls the API, Culvert included, may be refused afterwards. */
  readonly type: Risk['type'] | 'deleted' | 'replaced' | 'lockout'
  readonly text: string
}

/** A create for one of these reasons has an object of another id as its result. */
const REPLACING: ReadonlySet<WriteReason> = new Set(['replacement', 'rotation', 'renewal', 'reissue'])

/** What of a planned write someone should look at first, as its kind judges it. */
function marksOf(
  kinds: KindsRegistry,
  write: PlannedWrite,
  guards: ReadonlySet<string>,
  others?: readonly RemoteObject[],
): readonly Mark[] {
  const descriptor = kinds.managedKind(write.origin.resource.kind)
  // Objects that the plan itself creates, and may delete again, protect and open nothing that exists now.
  if (descriptor === undefined || isPlaceholder(write.before?.id)) return []
  return [
    ...lifeMarks(write),
    ...riskMarks(kinds, descriptor, write, others),
    ...lockoutMarks(kinds, descriptor, write, guards),
  ]
}

function lifeMarks({ method, origin }: PlannedWrite): readonly Mark[] {
  if (method === 'delete') return [{ type: 'deleted', text: DELETED }]
  if (method !== 'create' || !REPLACING.has(origin.reason)) return []
  return [{ type: 'replaced', text: REPLACED }]
}

function riskMarks(
  kinds: KindsRegistry,
  descriptor: ManagedDescriptor,
  write: PlannedWrite,
  others?: readonly RemoteObject[],
): readonly Mark[] {
  const { before, after } = write
  const isChild = isInChildren(descriptor, write)
  // A new object opens nothing that was closed, unless it is added to one that is in use.
  if (before === undefined && !(isChild || descriptor.part !== undefined)) return []
  if (before === undefined && isPlaceholder(wholeIn(kinds, write))) return []
  return (isChild ? descriptor.children?.risks : descriptor.fields.risks)?.({ before, after, others }) ?? []
}

function lockoutMarks(
  kinds: KindsRegistry,
  descriptor: ManagedDescriptor,
  write: PlannedWrite,
  guards: ReadonlySet<string>,
): readonly Mark[] {
  const { apiAccess } = descriptor
  const { method, body, after } = write
  switch (apiAccess?.type) {
    case undefined:
      return []
    case 'restricts':
      return after !== undefined && apiAccess.object(after)
        ? [
            {
              type: 'lockout',
              text: 'it decides who may call the API: check that it admits your callers and Culvert',
            },
          ]
        : []
    case 'owns-keys':
      return method === 'update' && apiAccess.silences(body)
        ? [{ type: 'lockout', text: 'the API will refuse its keys' }]
        : []
    case 'admits': {
      const whole = wholeIn(kinds, write)
      const opens = riskMarks(kinds, descriptor, write).length > 0
      return method !== 'update' && !opens && whole !== undefined && guards.has(whole)
        ? [{ type: 'lockout', text: `${whole} decides who may call the API, and admits fewer` }]
        : []
    }
  }
}

function isInChildren({ children }: ManagedDescriptor, { collection }: PlannedWrite): boolean {
  return children?.collection.path === collection.path
}

/** Id of the object whose child, inline or with a resource of its own, is written. */
function wholeIn({ managed }: KindsRegistry, { collection, before, after }: PlannedWrite): string | undefined {
  const child = after ?? before
  const parent = managed.find(({ children }) => children?.collection.path === collection.path)
  return child && parent?.children?.parentId(child)
}

/** For each write to a part of an object: the other parts at that time. */
export async function otherPartsOf(
  kinds: KindsRegistry,
  account: DryAccount,
): Promise<ReadonlyMap<PlannedWrite, readonly RemoteObject[]>> {
  const found = new Map<PlannedWrite, readonly RemoteObject[]>()
  for (const { children } of kinds.managed) {
    const writes = account.writes.filter(({ collection }) => collection.path === children?.collection.path)
    if (children === undefined || writes.length === 0) continue
    const objects = new Map(await account.objects(children.collection))
    // From the last write back to the first: the account is known as they leave it.
    for (const write of writes.toReversed()) {
      const { id, before, after = before } = write
      objects.delete(id)
      const parent = after && children.parentId(after)
      found.set(
        write,
        [...objects.values()].filter((each) => children.parentId(each) === parent),
      )
      if (before !== undefined) objects.set(id, before)
    }
  }
  return found
}

/** Ids of the objects to which enforced restrictions of the API refer now. */
export async function guardsOf(kinds: KindsRegistry, account: DryAccount): Promise<ReadonlySet<string>> {
  const restricting = kinds.managed.filter(({ apiAccess }) => apiAccess?.type === 'restricts')
  const admitting = kinds.managed.filter(({ apiAccess }) => apiAccess?.type === 'admits')
  if (
    !account.writes.some(({ origin }) => admitting.some(({ definition }) => definition.kind === origin.resource.kind))
  ) {
    return new Set()
  }
  const found = await Promise.all(restricting.map((descriptor) => guardsIn(descriptor, account)))
  return new Set(found.flat())
}

async function guardsIn(
  { apiAccess, identity, references }: ManagedDescriptor,
  account: DryAccount,
): Promise<string[]> {
  const lists = await Promise.all(identity.collections.map((collection) => account.objects(collection)))
  const objects: readonly RemoteObject[] = lists.flatMap((list) => [...list.values()])
  const enforced = objects.filter((object) => apiAccess?.type === 'restricts' && apiAccess.object(object))
  return enforced.flatMap((object) => references.kinds.flatMap(({ idsIn }) => [...idsIn(object)]))
}
