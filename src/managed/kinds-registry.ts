import type { Collection } from '../api/types.ts'
import type { ResourceType } from '../kube/types.ts'
import type { AccessNeeds, Reach } from './descriptor/access.ts'
import type { CommandDescriptor } from './descriptor/command.ts'
import type { CommonSpec } from './descriptor/common.ts'
import type { AccountDescriptor, Descriptor, ManagedDescriptor } from './descriptor/descriptor.ts'
import type { MirrorDescriptor } from './descriptor/mirror.ts'
import type { ReferenceKind } from './descriptor/references.ts'
import type { ComposedDescriptor } from './descriptor/tunnel.ts'

/** What accounts need to know of a kind whose CRs live in them. */
interface MemberKind {
  readonly reach: Reach
  needs(spec: CommonSpec): AccessNeeds
}

/** The kinds of this operator, by name. Built once from the explicit array in `src/kinds/index.ts`. */
export class KindsRegistry {
  /** All kinds, whatever their role. */
  readonly all: readonly Descriptor[]
  readonly managed: readonly ManagedDescriptor[]
  readonly accounts: readonly AccountDescriptor[]
  readonly mirrors: readonly MirrorDescriptor[]
  readonly commands: readonly CommandDescriptor[]
  readonly composed: readonly ComposedDescriptor[]
  readonly #byKind: ReadonlyMap<string, Descriptor>

  constructor(descriptors: readonly Descriptor[]) {
    this.all = descriptors
    this.managed = descriptors.filter((descriptor) => descriptor.role === 'managed')
    this.accounts = descriptors.filter((descriptor) => descriptor.role === 'account')
    this.mirrors = descriptors.filter((descriptor) => descriptor.role === 'mirror')
    this.commands = descriptors.filter((descriptor) => descriptor.role === 'command')
    this.composed = descriptors.filter((descriptor) => descriptor.role === 'composed')
    this.#byKind = new Map(descriptors.map((descriptor) => [descriptor.definition.kind, descriptor]))
  }

  /** The descriptor of a managed kind; undefined for a kind without one (yet): it can only be referred to by id. */
  managedKind(kind: string): ManagedDescriptor | undefined {
    const descriptor = this.#byKind.get(kind)
    return descriptor?.role === 'managed' ? descriptor : undefined
  }

  /** The collections that may contain objects of a kind; none for a kind without a descriptor. */
  collectionsOf(kind: string): readonly Collection[] {
    return this.managedKind(kind)?.identity.collections ?? []
  }

  /** The reach of a kind whose CRs live in accounts, and what its specs need. */
  member(kind: string): MemberKind {
    const descriptor = this.#byKind.get(kind)
    switch (descriptor?.role) {
      case 'managed':
        return { reach: descriptor.reach, needs: (spec) => descriptor.needs?.(spec) ?? {} }
      case 'command':
        return { reach: descriptor.reach, needs: () => ({}) }
      default:
        throw new Error(`${kind} is not a kind whose resources live in accounts`)
    }
  }

  /** The resource type of an account kind. */
  accountType(kind: string): ResourceType {
    const descriptor = this.accounts.find(({ definition }) => definition.kind === kind)
    if (descriptor === undefined) throw new Error(`${kind} is not a kind of account`)
    return resourceTypeOf(descriptor)
  }

  /** The resource type of a kind. @throws Error if there is no such kind */
  resourceType(kind: string): ResourceType {
    return resourceTypeOf(this.descriptor(kind))
  }

  /** The descriptor of a kind. @throws Error if there is no such kind */
  descriptor(kind: string): Descriptor {
    const descriptor = this.#byKind.get(kind)
    if (descriptor === undefined) throw new Error(`there is no kind ${kind}`)
    return descriptor
  }

  /** Kinds whose specs may refer to `kind`, with how their remote objects name it. */
  referrersOf(kind: string): readonly Referrers[] {
    return this.managed.flatMap((descriptor) => {
      return descriptor.references.kinds
        .filter((reference) => reference.kind === kind)
        .map((reference) => {
          const collections = reference.collections ?? descriptor.identity.collections
          return { descriptor, reference, collections }
        })
    })
  }
}

/** A kind whose objects may refer to those of another. */
export interface Referrers {
  readonly descriptor: ManagedDescriptor
  readonly reference: ReferenceKind
  /** Where objects that can hold the reference are. */
  readonly collections: readonly Collection[]
}

/** The resource type of a kind in the Kubernetes API. */
export function resourceTypeOf({ definition }: Descriptor): ResourceType {
  const { group, version, plural, kind, scope } = definition
  return { group, version, plural, kind, namespaced: scope === 'Namespaced' }
}
