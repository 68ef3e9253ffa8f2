import type { Collection, RemoteObject } from '../../src/api/types.ts'
import type { CommonSpec, CommonStatus, Fields, Ref } from '../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../src/managed/descriptor/descriptor.ts'
import type { Desired } from '../../src/managed/descriptor/desired.ts'
import { formatMarker, type Marker } from '../../src/managed/markers/marker.ts'
import { intendedModules, modulesAtRest } from '../../src/managed/plan/modules.ts'
import { type Operation, plan, planCreate } from '../../src/managed/plan/plan.ts'
import type { ApiClient, Resource } from './contract/api-client.ts'

/** The results of a spec's references and inputs. */
export interface Surroundings {
  target(kind: string, ref: Ref): { readonly id: string; readonly object: RemoteObject | undefined }
  input(key: string): string
}

/** An object as `GET` shows it, with its children. */
export interface Shown {
  readonly object: Resource
  readonly children: readonly Resource[]
}

/** The marker of every object. */
const MARK: Marker = { installation: 'i', kind: 'K', namespace: 'n', name: 'n', uid: 'u', nonce: '0' }

/** The metadata of an object created for a spec: the marker, with the spec's own keys. */
export function markedMetadata({ metadata }: CommonSpec): string {
  return formatMarker(MARK, metadata)
}

/** A replacement, what its new object lacks, and nothing more. */
const MOST_ROUNDS = 3

/**
 * One CR at an emulator's API: its plans are executed as the operator does, without anything that concerns Kubernetes,
 * time and failures.
 */
export class EmulatedLife {
  readonly #api: ApiClient
  readonly #descriptor: ManagedDescriptor
  readonly #around: Surroundings
  #status: CommonStatus & Fields = {}
  #inputs: readonly string[] = []
  #at: { readonly collection: Collection; readonly id: string } | undefined

  constructor(api: ApiClient, descriptor: ManagedDescriptor, around: Surroundings) {
    this.#api = api
    this.#descriptor = descriptor
    this.#around = around
  }

  /** Brings the object to the spec. @throws Error if plans do not come to an end */
  async settle(spec: CommonSpec): Promise<void> {
    if (this.#at === undefined) await this.#create(spec)
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const operations = await this.left(spec)
      this.#inputs = this.#inputsOf(spec)
      if (operations.length === 0) return
      for (const operation of operations) await this.#carryOut(operation, spec)
      await this.#check(spec)
    }
    const left = await this.left(spec)
    if (left.length > 0) throw new Error(`never done: ${JSON.stringify(left)}`)
  }

  /** The operations still needed for the spec. */
  async left(spec: CommonSpec): Promise<readonly Operation[]> {
    const { object, children } = await this.shown()
    const inputs = this.#inputsOf(spec)
    const inputsChanged = inputs.length > 0 && JSON.stringify(inputs) !== JSON.stringify(this.#inputs)
    return plan(
      this.#descriptor,
      this.#desired(spec),
      { remote: object, children },
      { markedMetadata: markedMetadata(spec), inputsChanged },
    )
  }

  async shown(): Promise<Shown> {
    const { collection, id } = this.#place()
    const object = await this.#api.get(collection.path, id)
    const { children } = this.#descriptor
    if (children === undefined) return { object, children: [] }
    const all = await this.#api.all(`/${children.collection.path}`, children.collection.listKey)
    return { object, children: all.filter((child) => children.parentId(child) === id) }
  }

  /** Deletes the object, if there is one. */
  async end(): Promise<void> {
    if (this.#at === undefined) return
    await this.#api.remove(`/${this.#at.collection.path}/${this.#at.id}`)
    this.#at = undefined
    this.#status = {}
  }

  #place() {
    if (this.#at === undefined) throw new Error('there is no object')
    return this.#at
  }

  async #create(spec: CommonSpec): Promise<void> {
    const collection = this.#descriptor.identity.collectionOf(spec)
    this.#inputs = this.#inputsOf(spec)
    const body = planCreate(this.#descriptor, this.#desired(spec), markedMetadata(spec))
    const created = await this.#api.create(collection.path, body)
    this.#at = { collection, id: created.id }
    this.#seen(spec, created)
  }

  async #check(spec: CommonSpec): Promise<void> {
    const { object } = await this.shown()
    this.#seen(spec, object)
  }

  #seen(spec: CommonSpec, object: RemoteObject): void {
    const { internal } = this.#status
    const kept = { ...internal, ...intendedModules(this.#descriptor.modules, spec, internal ?? {}) }
    const after = { ...kept, ...modulesAtRest(this.#descriptor.modules, object, kept) }
    this.#status = { ...this.#descriptor.status.shown(object, kept, spec), internal: after }
  }

  async #carryOut(operation: Operation, spec: CommonSpec): Promise<void> {
    if ('target' in operation) return this.#carryOutChild(operation)
    const { collection, id } = this.#place()
    if (operation.type === 'update') {
      const never = operation.fields.filter((field) => this.#descriptor.fields.createOnly.includes(field))
      if (never.length > 0) throw new Error(`an update with ${never}`)
      await this.#api.update(collection.path, id, operation.body)
      return
    }
    if (this.#descriptor.replacement?.first === 'delete') {
      await this.end()
      await this.#create(spec)
    } else {
      await this.#create(spec)
      await this.#api.remove(`/${collection.path}/${id}`)
    }
  }

  async #carryOutChild(operation: Extract<Operation, { target: 'child' }>): Promise<void> {
    const path = this.#descriptor.children?.collection.path ?? ''
    if (operation.type === 'create') await this.#api.create(path, operation.body)
    else if (operation.type === 'update') await this.#api.update(path, operation.id, operation.body)
    else await this.#api.remove(`/${path}/${operation.id}`)
  }

  #inputsOf(spec: CommonSpec): readonly string[] {
    const { inputs } = this.#descriptor
    return (inputs?.of(spec) ?? []).map(({ path, ref }) => `${path} ${this.#around.input(ref.key)}`)
  }

  #desired(spec: CommonSpec): Desired<CommonSpec> {
    return {
      spec,
      status: this.#status,
      id: (kind, ref) => this.#around.target(kind, ref).id,
      target: (kind, ref) => this.#around.target(kind, ref),
      input: (_source, { key }) => this.#around.input(key),
      resolves: () => true,
      isGone: () => false,
      decides: () => true,
      now: Date.now(),
      marker: (_nonce, metadata) => formatMarker(MARK, metadata),
    }
  }
}
