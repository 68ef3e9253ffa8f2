import { namespaceType } from '../../kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../kube/types.ts'
import type { AccountKey } from '../../managed/account-resource.ts'
import { type CustomResource, nameOf, nameText, type ResourceName } from '../../managed/cr.ts'
import type { Descriptor } from '../../managed/descriptor/descriptor.ts'
import { type KindsRegistry, resourceTypeOf } from '../../managed/kinds-registry.ts'
import type { AccountChoices } from '../../managed/references/account-choice.ts'
import { CommandError } from './command-error.ts'
import type { ExplainedClient } from './explained-client.ts'
import type { StatedResource } from './resource-state.ts'

/**
 * Resources read one by one, each once, for decisions of the operator's own code that expect the watched objects
 * (`AccountChoices`): whatever such a decision asks for must have been read before.
 */
export class Snapshot {
  readonly kinds: KindsRegistry
  readonly #kube: Pick<ExplainedClient, 'get'>
  readonly #descriptors: ReadonlyMap<string, Descriptor>
  readonly #reads = new Map<string, Promise<KubeObject | undefined>>()
  readonly #read = new Map<string, KubeObject | undefined>()

  constructor(kinds: KindsRegistry, kube: Pick<ExplainedClient, 'get'>) {
    this.kinds = kinds
    this.#kube = kube
    this.#descriptors = new Map(kinds.all.map((descriptor) => [descriptor.definition.kind, descriptor]))
  }

  /** Takes resources that were read otherwise, so that they are not read again. */
  hold(resources: readonly StatedResource[]): void {
    for (const resource of resources) {
      const text = nameText(nameOf(resource))
      this.#reads.set(text, Promise.resolve(resource))
      this.#read.set(text, resource)
    }
  }

  /** The descriptor of a kind; undefined for one that is not Culvert's. */
  descriptorOf(kind: string): Descriptor | undefined {
    return this.#descriptors.get(kind)
  }

  /**
   * Reads a resource; undefined if it does not exist, or its kind is not Culvert's.
   *
   * @throws CommandError if the resource may not be read
   */
  read({ kind, namespace, name }: ResourceName): Promise<StatedResource | undefined> {
    const descriptor = this.#descriptors.get(kind)
    if (descriptor === undefined) return Promise.resolve(undefined)
    const type = resourceTypeOf(descriptor)
    return this.#once(type, { kind, namespace: type.namespaced ? namespace : undefined, name })
  }

  /** Reads a namespace, for its labels. */
  readNamespace(name: string): Promise<KubeObject | undefined> {
    return this.#once(namespaceType, { kind: namespaceType.kind, name })
  }

  /** What was read so far, as the operator's code expects it. */
  get choices(): AccountChoices {
    const known = (name: ResourceName): KubeObject | undefined => this.#read.get(nameText(name))
    return {
      kinds: this.kinds,
      resources: {
        get: (name) => known(name) as CustomResource | undefined,
        hasAccount: ({ kind, name }, namespace) => {
          return known({ kind, name, namespace: kind === 'Account' ? namespace : undefined }) !== undefined
        },
        namespace: (name) => known({ kind: namespaceType.kind, name }),
      },
    }
  }

  /** Reads an account. One that may not be read counts as present, so that it is named and not passed over. */
  async readAccount(key: AccountKey): Promise<StatedResource | CommandError | undefined> {
    try {
      return await this.read(key)
    } catch (error) {
      if (error instanceof CommandError && error.code === 'Forbidden') return error
      throw error
    }
  }

  async #once<T extends KubeObject>(type: ResourceType, name: ResourceName): Promise<T | undefined> {
    const text = nameText(name)
    const reading = this.#reads.get(text) ?? this.#kube.get<T>(type, name)
    this.#reads.set(text, reading)
    const object = await reading
    this.#read.set(text, object)
    return object as T | undefined
  }
}
