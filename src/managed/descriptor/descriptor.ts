import type { Collection } from '../../api/types.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import type { AccessNeeds, Reach } from './access.ts'
import type { APIAccess } from './api-access.ts'
import type { APIFields } from './api-fields.ts'
import type { Children } from './children.ts'
import type { CommandDescriptor } from './command.ts'
import type { CommonSpec } from './common.ts'
import type { Companion } from './companion.ts'
import type { Desired } from './desired.ts'
import type { Identity } from './identity.ts'
import type { Inputs } from './inputs.ts'
import type { ManifestWriter } from './manifest.ts'
import type { MirrorDescriptor } from './mirror.ts'
import type { Modules } from './modules.ts'
import type { DerivedOutput, OneTimeOutput } from './output.ts'
import type { Part, Whole } from './parts.ts'
import type { References } from './references.ts'
import type { Replacement } from './replacement.ts'
import type { Rotation } from './rotation.ts'
import type { Reported } from './status.ts'
import type { ComposedDescriptor } from './tunnel.ts'

/** The interface between the shared reconcilers and the kinds: whatever is specific to a kind is declared here. */

/**
 * Everything that is specific to a kind. Its role: CRs with a remote object each, CRs that give access to an account,
 * CRs that mirror a collection, commands, or CRs that consist of other Kubernetes objects.
 */
export type Descriptor =
  | ManagedDescriptor
  | AccountDescriptor
  | MirrorDescriptor
  | CommandDescriptor
  | ComposedDescriptor

/** Account and ClusterAccount: the address and key for calls. */
export interface AccountDescriptor {
  readonly role: 'account'
  readonly definition: KindDefinition
  /** Where the Secret with the key is. */
  readonly secretNamespace: 'own' | 'operator'
}

/**
 * A kind whose CRs have one remote object each. Everything here is pure; shared code never asks which kind it has. A
 * kind has all of a group or, where the group is optional, none of it: the steps for it then do not run.
 * @typeParam Spec the static type of the kind's spec.
 */
export interface ManagedDescriptor<Spec extends CommonSpec = CommonSpec> {
  readonly role: 'managed'
  readonly definition: KindDefinition
  readonly reach: Reach
  /**
   * What the spec needs that a shared account may limit; absent: nothing. Called before anything is resolved, and again
   * with `desired`, for needs that depend on the objects that the spec refers to.
   */
  needs?(spec: Spec, desired?: Desired<Spec>): AccessNeeds
  readonly identity: Identity<Spec>
  readonly references: References<Spec>
  readonly inputs?: Inputs<Spec>
  /** Problems of the spec that CEL cannot detect; each names field, value and remedy. */
  problems(spec: Spec): readonly string[]
  readonly fields: APIFields<Spec>
  readonly status: Reported<Spec>
  readonly manifest: ManifestWriter
  /** Parts of the object that others may set too. */
  readonly modules?: Modules<Spec>
  /** How a change of create-only fields is carried out; absent: the CRD refuses such a change. */
  readonly replacement?: Replacement<Spec>
  /** When and how the object is replaced by a new one of the same spec; absent: never. */
  readonly rotation?: Rotation<Spec>
  /** For kinds whose objects decide who may call the API, by themselves or as part of another object. */
  readonly apiAccess?: APIAccess<Spec>
  /** Absent: others may refer to a CR as soon as its object exists. */
  readonly whole?: Whole
  readonly part?: Part
  readonly children?: Children<Spec>
  /** The kind's output into a Secret or ConfigMap; its status then has `outputStatus`. */
  readonly output?: OneTimeOutput<Spec> | DerivedOutput<Spec>
  /** The companion that the CR keeps for another operator. */
  readonly companion?: Companion<Spec>
}

/** The collections that hold the object of a CR with this spec, and its inline children. */
export function ownCollections(
  { children, identity }: ManagedDescriptor,
  spec: Parameters<ManagedDescriptor['identity']['collectionOf']>[0],
): readonly Collection[] {
  const own = identity.collectionOf(spec)
  return children === undefined ? [own] : [own, children.collection]
}
