import { ApiError } from '../../api/errors.ts'
import type { ApiClient, Collection, RemoteObject } from '../../api/types.ts'
import { compareTexts } from '../../kinds/building-blocks/remote.ts'
import type { Fields, Ref } from '../../managed/descriptor/common.ts'
import type { ManagedDescriptor, ManifestView } from '../../managed/descriptor/descriptor.ts'
import { markedKind, ownKeys } from '../../managed/descriptor/metadata.ts'
import { OBJECT_NAME } from '../../managed/descriptor/text-schemas.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { type Marker, markerOf, PLACEHOLDER_NONCE } from '../../managed/markers/marker.ts'
import { GROUP, VERSION } from '../../managed/names.ts'
import { SpecAdmission } from '../../schema/admission.ts'
import { timeInMs } from '../../util/time.ts'
import { namesFor, unmistakable } from './resource-names.ts'
import type { TerraformObject } from './terraform-state.ts'

export interface ExportRequest {
  readonly kinds: KindsRegistry
  readonly reader: Pick<ApiClient, 'list'>
  /** Of all manifests: where they are applied is for the caller to say, and not for what a marker says. */
  readonly namespace: string
  /** Only these kinds; undefined: all. */
  readonly only?: ReadonlySet<string> | undefined
  /** Only these objects; undefined: all. */
  readonly ids?: ReadonlySet<string> | undefined
  /** Sets `accountRef` of every spec. Absent: the default account. */
  readonly accountRef?: { readonly kind: 'Account' | 'ClusterAccount'; readonly name: string } | undefined
  /** Objects that a Terraform state covers, by id: they keep their names. */
  readonly terraform?: ReadonlyMap<string, TerraformObject> | undefined
  readonly progress?: (text: string) => void
}

/** A manifest of one object. */
export interface Exported {
  readonly manifest: {
    readonly apiVersion: string
    readonly kind: string
    readonly metadata: { readonly name: string; readonly namespace: string }
    readonly spec: Fields
  }
  /** What the reader of the manifest has to know, in sentences; none for most. */
  readonly notes: readonly string[]
}

/** An object, or a whole collection, without a manifest, and why. */
export interface LeftOut {
  readonly collection: string
  /** Undefined: all objects of the collection. */
  readonly id: string | undefined
  /** What people know the object by, such as its description; undefined if nothing. */
  readonly name: string | undefined
  readonly why: string
}

export interface ExportResult {
  readonly manifests: readonly Exported[]
  readonly leftOut: readonly LeftOut[]
  /** Addresses in the Terraform state of what the manifests describe, inline children included. */
  readonly terraform: readonly string[]
}

/** An object that gets a manifest. */
interface Subject {
  readonly descriptor: ManagedDescriptor
  readonly collection: Collection
  readonly object: RemoteObject
  readonly marker: Marker | undefined
  /** The marker, if it names a resource that the manifest cannot be. */
  readonly foreign: Marker | undefined
}

/** Writes down the objects of an account as manifests that, once applied, change nothing about them. */
export async function exportAccount(request: ExportRequest): Promise<ExportResult> {
  const { only, ids } = request
  const { account, refused } = await readLists(request)
  const { subjects, leftOut } = subjectsIn(request, account)
  const isWritten = ({ descriptor, object }: Subject): boolean => {
    return (only?.has(descriptor.definition.kind) ?? true) && (ids?.has(object.id) ?? true)
  }
  const index = new ExportIndex(request, { subjects, isWritten })
  const admission = new SpecAdmission()
  const manifests: Exported[] = []
  const terraform: string[] = []
  const without = leftOut.filter(isWritten).map(({ subject, why }) => leave(subject, why))
  for (const subject of subjects.filter(isWritten)) {
    const written = write(request, subject, index, account)
    const admitted = admission.admit(subject.descriptor.definition, written.manifest.spec)
    if (!admitted.ok) {
      const problems = admitted.problems.map(({ message }) => message).join('; ')
      without.push(leave(subject, `no spec can describe it: ${problems}`))
    } else if (!isUnicode(written.manifest.spec)) {
      without.push(leave(subject, 'a text of it has half a surrogate pair, which YAML cannot hold: change it'))
    } else {
      manifests.push(written)
      terraform.push(...addressesOf(request, subject, account))
    }
  }
  const unread = refused.filter(({ kinds }) => kinds.some((kind) => only?.has(kind) ?? true))
  const why = 'the API key may not list it: use a key that may'
  return {
    manifests,
    leftOut: [...unread.map(({ collection }) => ({ collection, id: undefined, name: undefined, why })), ...without],
    terraform: terraform.toSorted(compareTexts),
  }
}

/** Whether each text, at any depth, has whole characters only. */
function isUnicode(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, each]) => key.isWellFormed() && isUnicode(each))
}

/** Where the Terraform state has the object and its inline children. */
function addressesOf({ terraform }: ExportRequest, subject: Subject, account: ReadAccount): readonly string[] {
  const objects = [subject.object, ...account.inlineChildrenOf(subject)]
  return objects.flatMap(({ id }) => terraform?.get(id)?.address ?? [])
}

/** The objects of an account, as its lists showed them. */
class ReadAccount {
  readonly #lists: ReadonlyMap<string, readonly RemoteObject[]>
  readonly #parentOf: ReadonlyMap<string, (child: RemoteObject) => string | undefined>
  readonly #byId: ReadonlyMap<string, RemoteObject>
  /** How the objects of a collection are written down. */
  readonly #manifestIn: ReadonlyMap<string, ManagedDescriptor['manifest']>
  readonly #families = new Map<string, ReadonlyMap<string | undefined, readonly RemoteObject[]>>()

  constructor({ managed }: KindsRegistry, lists: ReadonlyMap<string, readonly RemoteObject[]>) {
    this.#lists = lists
    this.#byId = new Map([...lists.values()].flat().map((object) => [object.id, object]))
    this.#manifestIn = new Map(
      managed.flatMap(({ identity, manifest }) => identity.collections.map(({ path }) => [path, manifest] as const)),
    )
    this.#parentOf = new Map(
      managed.flatMap(({ children }) =>
        children === undefined ? [] : [[children.collection.path, children.parentId]],
      ),
    )
  }

  /** The object with that id, in any collection. */
  object(id: string): RemoteObject | undefined {
    return this.#byId.get(id)
  }

  in({ path }: Collection): readonly RemoteObject[] {
    return this.#lists.get(path) ?? []
  }

  /** The children that the spec of their parent describes. */
  inlineChildrenOf({
    descriptor: { children },
    object,
  }: Pick<Subject, 'descriptor' | 'object'>): readonly RemoteObject[] {
    if (children === undefined) return []
    const { isPartOf } = this.#manifestIn.get(children.collection.path) ?? {}
    const held = this.childrenOf(object.id, children.collection)
    const view = { siblings: () => held, whole: (id: string) => this.object(id) }
    return held.filter((child) => isPartOf?.(child, view) ?? true)
  }

  /** The children of an object, in a collection whose objects are children; else none. */
  childrenOf(parentId: string, collection: Collection): readonly RemoteObject[] {
    const parentOf = this.#parentOf.get(collection.path)
    if (parentOf === undefined) return []
    const known = this.#families.get(collection.path) ?? Map.groupBy(this.in(collection), parentOf)
    this.#families.set(collection.path, known)
    return known.get(parentId) ?? []
  }
}

/** A collection that the key may not list. */
interface Refused {
  readonly collection: string
  /** Of the objects in it. */
  readonly kinds: readonly string[]
}

async function readLists({
  kinds,
  reader,
  progress = () => undefined,
}: ExportRequest): Promise<{ readonly account: ReadAccount; readonly refused: readonly Refused[] }> {
  const collections = new Map(
    kinds.managed.flatMap(({ identity }) => identity.collections.map((each) => [each.path, each] as const)),
  )
  let read = 0
  let objects = 0
  const refused: Refused[] = []
  const lists = await Promise.all(
    [...collections.values()].map(async (collection) => {
      const list = await readList(reader, collection, () => {
        const inIt = kinds.managed.filter(({ identity }) => identity.collections.includes(collection))
        refused.push({ collection: collection.path, kinds: inIt.map(({ definition }) => definition.kind) })
      })
      read += 1
      objects += list.length
      progress(`read ${read} of ${collections.size} collections, ${objects} objects`)
      return [collection.path, list] as const
    }),
  )
  return { account: new ReadAccount(kinds, new Map(lists)), refused }
}

/** A collection that the service does not have is empty. */
async function readList(
  reader: ExportRequest['reader'],
  collection: Collection,
  onRefused: () => void,
): Promise<readonly RemoteObject[]> {
  try {
    return (await reader.list(collection)).objects
  } catch (error) {
    if (!(error instanceof ApiError && (error.code === 'Forbidden' || error.code === 'NotFound'))) throw error
    if (error.code === 'Forbidden') onRefused()
    return []
  }
}

/** An object that gets no manifest, although no other one describes it. */
interface Unwritten {
  readonly subject: Subject
  readonly why: string
}

function subjectsIn({ kinds, namespace }: ExportRequest, account: ReadAccount) {
  const leftOut: (Subject & Unwritten)[] = []
  const marked = new Set<string>()
  const subjects: Subject[] = []
  for (const descriptor of kinds.managed) {
    for (const collection of descriptor.identity.collections) {
      const siblings = (parentId: string): readonly RemoteObject[] => account.childrenOf(parentId, collection)
      // Of several objects with one marker, the oldest is the original.
      for (const object of [...account.in(collection)].sort((one, other) => createdMs(one) - createdMs(other))) {
        const marker = markerOf(object) ?? markOfChildren(descriptor, object, account)
        const foreign = marker && namesOwn(descriptor, marker, namespace) ? undefined : marker
        const subject = { descriptor, collection, object, marker, foreign }
        if (descriptor.manifest.isPartOf?.(object, { siblings, whole: (id) => account.object(id) }) === true) continue
        const owner = marker && `${marker.kind} ${marker.namespace}/${marker.name}`
        if (marker?.nonce === PLACEHOLDER_NONCE)
          leftOut.push({ ...subject, subject, why: `it is a placeholder of ${owner}` })
        else if (owner !== undefined && marked.has(owner)) {
          const why = `another object has the mark of ${owner} too: delete one of them`
          leftOut.push({ ...subject, subject, why })
        } else subjects.push(subject)
        if (owner !== undefined) marked.add(owner)
      }
    }
  }
  return { subjects, leftOut }
}

/** Of an object whose own text has replaced its mark, the mark that its inline children still carry. */
function markOfChildren(
  { children, definition }: ManagedDescriptor,
  object: RemoteObject,
  account: ReadAccount,
): Marker | undefined {
  if (children === undefined) return undefined
  const marks = account.childrenOf(object.id, children.collection).map(markerOf)
  return marks.find((marker) => marker?.kind === definition.kind && marker.nonce !== PLACEHOLDER_NONCE)
}

function leave({ collection, descriptor, object }: Subject, why: string): LeftOut {
  const name = descriptor.manifest.namedAfter(object).find((text) => text !== undefined && text !== '')
  return { collection: collection.path, id: object.id, name, why }
}

/**
 * Whether the marker names a resource that the manifest can be: one of its kind, in the namespace that was asked for.
 * Whoever has a key to the account can write a marker, so that it decides about nothing else.
 */
function namesOwn({ definition: { kind } }: ManagedDescriptor, marker: Marker, namespace: string): boolean {
  return marker.kind === kind && marker.namespace === namespace && IS_NAME.test(marker.name)
}

const IS_NAME = new RegExp(OBJECT_NAME)

/** All objects, whose names depend on each other, and which of them are written down. */
interface Selection {
  readonly subjects: readonly Subject[]
  readonly isWritten: (subject: Subject) => boolean
}

/** Which object is written down under which name. */
class ExportIndex {
  readonly #names = new Map<string, string>()
  /** Those that a reference can lead to, by kind and id. */
  readonly #usable = new Set<string>()
  readonly #values = new Map<string, string>()

  constructor({ kinds, terraform }: ExportRequest, { subjects, isWritten }: Selection) {
    for (const descriptor of kinds.managed) {
      const { kind, singular } = descriptor.definition
      const own = subjects.filter((subject) => subject.descriptor === descriptor)
      const nameInState = (id: string): string | undefined => {
        const name = terraform?.get(id)?.name
        return name && unmistakable(name, singular)
      }
      const names = namesFor(
        own.map(({ object, marker, foreign }) => ({
          id: object.id,
          createdMs: createdMs(object),
          given: (foreign === undefined ? marker?.name : undefined) ?? nameInState(object.id),
          texts: descriptor.manifest.namedAfter(object),
          otherwise: singular,
        })),
      )
      for (const { object, foreign } of own.filter(isWritten)) {
        const name = names.get(object.id) ?? ''
        this.#names.set(`${kind} ${object.id}`, name)
        if (foreign !== undefined) continue
        this.#usable.add(`${kind} ${object.id}`)
        for (const value of descriptor.identity.valuesOf?.(object) ?? []) this.#values.set(`${kind} ${value}`, name)
      }
    }
  }

  nameOf(kind: string, id: string): string {
    return this.#names.get(`${kind} ${id}`) ?? ''
  }

  ref(kind: string, id: string): Ref {
    return this.#usable.has(`${kind} ${id}`) ? { name: this.nameOf(kind, id) } : { id }
  }

  nameOfValue(kind: string, value: string): string | undefined {
    return this.#values.get(`${kind} ${value}`)
  }
}

function createdMs({ created_at: at }: RemoteObject): number {
  return timeInMs(at) ?? 0
}

function write(request: ExportRequest, subject: Subject, index: ExportIndex, account: ReadAccount): Exported {
  const { descriptor, collection, object, foreign } = subject
  const { namespace } = request
  const { kind } = descriptor.definition
  const name = index.nameOf(kind, object.id)
  const { children } = descriptor
  const view: ManifestView = {
    collection,
    name,
    ref: (target, id) => index.ref(target, id),
    nameOfValue: (target, value) => index.nameOfValue(target, value),
    children: children === undefined ? [] : account.childrenOf(object.id, children.collection),
    siblings: (parentId) => account.childrenOf(parentId, collection),
    whole: (id) => account.object(id),
  }
  const hidden = descriptor.manifest.observeOnly?.(object)
  const covered = (id: string): string | undefined => {
    const address = request.terraform?.get(id)?.address
    return address && `the Terraform state as ${address}: remove it there before anything here is changed.`
  }
  const own = covered(object.id)
  const marked =
    foreign &&
    `Marked as ${foreign.kind} ${foreign.namespace}/${foreign.name}, which alone can manage it: remove the marker from its metadata before this resource adopts it.`
  const inline = account.inlineChildrenOf(subject).flatMap(({ id, metadata }) => {
    const child = `${children?.collection.path ?? ''}/${id}`
    const state = covered(id)
    return [
      ...(state === undefined ? [] : [`${child} is in ${state}`]),
      ...(metadata == null || metadata === '' || markedKind(metadata) !== undefined
        ? []
        : [`${child} has metadata that is not part of this manifest, and stays as it is: ${metadata}`]),
    ]
  })
  const notes = [own && `In ${own}`, ...inline, hidden, marked].filter((note) => note !== undefined)
  const spec = {
    managementPolicy: hidden === undefined ? 'Manage' : 'Observe',
    externalID: object.id,
    ...(request.accountRef === undefined ? {} : { accountRef: request.accountRef }),
    ...textsOf(subject),
    ...descriptor.manifest.specOf(object, view),
  }
  return {
    manifest: { apiVersion: `${GROUP}/${VERSION}`, kind, metadata: { name, namespace }, spec: pruned(spec) },
    notes,
  }
}

/** Description and metadata, to the byte; of metadata with a mark, the keys beside it. */
function textsOf({ descriptor, object }: Subject): Fields {
  if (descriptor.identity.markedBy !== 'metadata') return {}
  const metadata = object.metadata ?? ''
  const own = ownKeys(metadata)
  const marker = markerOf(object)
  return {
    ...(object.description ? { description: object.description } : {}),
    ...(marker === undefined && metadata !== '' ? { rawMetadata: metadata } : {}),
    ...(marker !== undefined && own !== undefined ? { metadata: own } : {}),
  }
}

/** Without fields that are undefined, at any depth. */
function pruned(fields: Fields): Fields {
  return JSON.parse(JSON.stringify(fields)) as Fields
}
