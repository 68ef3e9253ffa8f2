import type { Collection, RemoteObject } from '../../api/types.ts'
import type { CommonSpec, Fields } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { type ChildOperation, DELETED, type Desired, REPLACED, type Risk } from '../descriptor/desired.ts'
import { type Observed, type Operation, type PlanContext, plan, planCreate } from '../plan/plan.ts'
import { answerToUpdate, shownBody } from './answer-form.ts'
import { changesOf, type FieldChange, KNOWN_AFTER_APPLY } from './field-changes.ts'

/** One request of a plan that has to be approved. */
export interface PlannedRequest {
  readonly action: 'Create' | 'Update' | 'Delete'
  /** Path of the collection at the API. */
  readonly collection: string
  /** Undefined while the object does not exist. */
  readonly id: string | undefined
  readonly changes: readonly FieldChange[]
  /** Why to look at it first: what it opens, deletes or replaces; none for most. */
  readonly marks: readonly string[]
}

/** What a plan is made from. */
export interface Scene {
  readonly descriptor: ManagedDescriptor
  readonly desired: Desired<CommonSpec>
  /** That of the object. */
  readonly collection: Pick<Collection, 'path'>
  /** Undefined: there is no object. */
  readonly observed: Observed | undefined
  /** The other parts of the whole that the object is a part of; undefined for a kind that is no part. */
  readonly others?: readonly RemoteObject[] | undefined
  readonly context: PlanContext
  /** Metadata of an object that is created, in which the nonce does not count. */
  readonly marker: string
}

/** The requests that make the account match the spec, in order; none if it does. Pure. */
export function plannedRequests(scene: Scene): readonly PlannedRequest[] {
  const { descriptor, desired, observed, context } = scene
  if (observed === undefined) return creation(scene, undefined)
  const operations = plan(descriptor, desired, observed, context)
  if (!operations.some(({ type }) => type === 'replace')) {
    return requestsOf(scene, observed, operations)
  }
  const created = creation(scene, observed.remote)
  const deleted = deletionOf(scene, observed.remote)
  const requests = descriptor.replacement?.first === 'delete' ? [deleted, ...created] : [...created, deleted]
  return requests.map((request) => ({ ...request, marks: [REPLACED, ...request.marks] }))
}

/** Requests in their order: what each changes depends on those before it. */
function requestsOf(scene: Scene, observed: Observed, operations: readonly Operation[]): readonly PlannedRequest[] {
  let { children } = observed
  return operations.map((operation) => {
    const request = requestOf(scene, { ...observed, children }, operation)
    if ('target' in operation) children = childrenAfter(children, operation)
    return request
  })
}

function childrenAfter(children: readonly RemoteObject[], operation: ChildOperation): readonly RemoteObject[] {
  if (operation.type === 'create') return [...children, { id: '', ...shownBody(operation.body) }]
  return operation.type === 'update' ? children : children.filter(({ id }) => id !== operation.id)
}

/** The request that deletes an object of the kind. */
export function deletionOf(
  { collection, descriptor, others }: Pick<Scene, 'collection' | 'descriptor' | 'others'>,
  remote: RemoteObject,
): PlannedRequest {
  const isPart = descriptor.part !== undefined
  const risks = isPart ? descriptor.fields.risks?.({ before: remote, after: undefined, others }) : []
  return deletion(collection, remote.id, risks)
}

/** The request that deletes an object. */
export function deletion({ path }: Pick<Collection, 'path'>, id: string, risks: readonly Risk[] = []): PlannedRequest {
  return { action: 'Delete', collection: path, id, changes: [], marks: [DELETED, ...textsOf(risks)] }
}

function textsOf(risks: readonly Risk[] = []): readonly string[] {
  return risks.map(({ text }) => text)
}

function creation(scene: Scene, former: RemoteObject | undefined): readonly PlannedRequest[] {
  const { descriptor, desired, collection, marker } = scene
  const body = planCreate(descriptor, desired, marker, former)
  const later = Object.entries(descriptor.fields.desire(desired, undefined)).filter(([field, value]) => {
    return descriptor.fields.updateOnly.includes(field) && value !== undefined && value !== null
  })
  const children = descriptor.children?.plan(desired, KNOWN_AFTER_APPLY, []) ?? []
  const own = (action: 'Create' | 'Update', fields: Fields): PlannedRequest => {
    const changes = changesOf(descriptor, { collection, body: fields, before: undefined })
    // A new object opens nothing that was closed, unless it is a part of one that is in use.
    const after = { id: '', ...shownBody(fields) }
    const risks = descriptor.part === undefined ? [] : descriptor.fields.risks?.({ before: undefined, after })
    return { action, collection: collection.path, id: undefined, changes, marks: textsOf(risks) }
  }
  return [
    own('Create', body),
    ...(later.length === 0 ? [] : [own('Update', Object.fromEntries(later))]),
    ...children.map((child) => childRequest(scene, [], { target: 'child', ...child })),
  ]
}

function requestOf(scene: Scene, { remote, children }: Observed, operation: Operation): PlannedRequest {
  if (operation.type === 'replace') throw new Error('a replacement is planned alone')
  if ('target' in operation) return childRequest(scene, children, operation)
  const { descriptor, collection } = scene
  const changes = changesOf(descriptor, { collection, body: operation.body, before: remote })
  const risks = descriptor.fields.risks?.({ before: remote, after: answerToUpdate(remote, operation.body) })
  return { action: 'Update', collection: collection.path, id: remote.id, changes, marks: textsOf(risks) }
}

function childRequest(
  { descriptor }: Scene,
  current: readonly RemoteObject[],
  operation: Extract<Operation, { readonly target: 'child' }>,
): PlannedRequest {
  if (descriptor.children === undefined) throw new Error('a kind without children planned a write to one')
  const { collection, risks } = descriptor.children
  const before = operation.type === 'create' ? undefined : current.find(({ id }) => id === operation.id)
  if (operation.type === 'delete') {
    const others = current.filter(({ id }) => id !== operation.id)
    return deletion(collection, operation.id, risks?.({ before, after: undefined, others }))
  }
  const { body } = operation
  const after = answerToUpdate(before ?? { id: '' }, body)
  // A placeholder admits nothing, and goes again.
  const isPlaceholder = operation.type === 'create' && operation.placeholder === true
  const marks = isPlaceholder ? [] : textsOf(risks?.({ before, after }))
  if (operation.type === 'create') {
    const changes = changesOf(descriptor, { collection, body, before: undefined })
    return { action: 'Create', collection: collection.path, id: undefined, changes, marks }
  }
  const changes = changesOf(descriptor, { collection, body, before })
  return { action: 'Update', collection: collection.path, id: operation.id, changes, marks }
}
