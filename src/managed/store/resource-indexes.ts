import type { KubeObject } from '../../kube/types.ts'
import type { RecordedSource } from '../../runtime/object-source.ts'
import { type AccountResource, accountKey, accountText } from '../account-resource.ts'
import {
  type CustomResource,
  hasFinalizer,
  heldIds,
  isDeleting,
  isPaused,
  nameText,
  recordedAccount,
  statusOf,
} from '../cr.ts'
import type { InputSource } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { ownNote } from '../markers/sealed-note.ts'
import { OUTPUT_OF } from '../names.ts'
import { outputTarget } from '../outputs/place.ts'
import { namedTargets } from '../references/crossings.ts'
import { targetIds } from '../references/targets.ts'
import type { CoreWatches } from './watches.ts'

/** The indexes of the watched objects, by what their values are. */
export const indexes = {
  /** Resources: the resources in the spec. */
  targets: 'targets',
  /** The same, of other namespaces. */
  crossings: 'crossings',
  /** Resources: the objects in the spec, by id. */
  targetIds: 'target ids',
  /** Resources: ids of their own objects, from the status. */
  holds: 'holds',
  /** Resources: the id in the note of their own object. */
  notes: 'notes',
  /** Resources: ids of what belongs to their objects, such as the rules of a policy. */
  children: 'children',
  /** Accounts: the Secret with the key. */
  secrets: 'secrets',
  /** Resources: Secrets and ConfigMaps that they read. */
  inputs: 'inputs',
  /** Resources: Secrets and ConfigMaps that they write or wrote. */
  outputs: 'outputs',
  /** Secrets and ConfigMaps: UIDs of the resources that wrote them. */
  owners: 'owners',
  /** Resources: their namespaces. */
  namespace: 'namespace',
  /** Resources: the account in which they have, or may have, an object; see `undecidedIn` while they have none. */
  account: 'account',
  /** Accounts that need the operator to go: their namespaces. */
  heldIn: 'held in',
} as const

/** Indexes what the watches deliver. To be called before they start. */
export function indexResources(kinds: KindsRegistry, watches: CoreWatches): void {
  for (const [kind, source] of watches.managed) {
    const descriptor = kinds.managedKind(kind)
    if (descriptor === undefined) throw new Error(`${kind} is watched without a descriptor`)
    indexManaged(descriptor, source)
  }
  for (const source of [watches.secrets, watches.configMaps]) source.addIndex(indexes.owners, ownersOfOutput)
  for (const source of watches.accounts.values()) {
    source.addIndex(indexes.heldIn, heldIn)
    source.addIndex(indexes.secrets, ({ spec, metadata }) => [
      `${metadata.namespace ?? ''}/${spec.apiKeySecretRef.name}`,
    ])
  }
}

function indexManaged(descriptor: ManagedDescriptor, source: RecordedSource<CustomResource>): void {
  source.addIndex(indexes.targets, (cr) => namedTargets(descriptor, cr).map(nameText))
  source.addIndex(indexes.crossings, (cr) => {
    return namedTargets(descriptor, cr).flatMap((target) => {
      return target.namespace === cr.metadata.namespace ? [] : [nameText(target)]
    })
  })
  source.addIndex(indexes.targetIds, (cr) => targetIds(descriptor, cr).map((target) => idText(target.kind, target.id)))
  source.addIndex(indexes.namespace, ({ metadata }) => [metadata.namespace ?? ''])
  source.addIndex(indexes.account, (cr) => {
    const { namespace = '' } = cr.metadata
    const account = recordedAccount(cr)
    if (account === undefined) return [undecidedIn(namespace), undecidedIn(undefined)]
    return [accountText(accountKey(account, namespace))]
  })
  source.addIndex(indexes.holds, (cr) => heldIds(statusOf(cr)))
  source.addIndex(indexes.notes, (cr) => {
    const note = ownNote(cr)
    return note === undefined ? [] : [note.id]
  })
  source.addIndex(indexes.children, (cr) => descriptor.children?.idsIn(statusOf(cr)) ?? [])
  source.addIndex(indexes.inputs, (cr) => {
    return (descriptor.inputs?.of(cr.spec) ?? []).map(({ source: holder, ref }) =>
      inputText(holder, cr.metadata.namespace, ref.name),
    )
  })
  source.addIndex(indexes.outputs, (cr) => {
    const places = [outputTarget(descriptor, cr), statusOf(cr).output].filter((place) => place !== undefined)
    return [...new Set(places.map(({ kind: holder, name }) => inputText(holder, cr.metadata.namespace, name)))]
  })
}

/** The value of `account` for resources without an object, in the namespace or, if undefined, in any. */
export function undecidedIn(namespace: string | undefined): string {
  return namespace === undefined ? '?' : `?${namespace}`
}

/** The namespace of an account that has our finalizer, or gets it in its next reconcile. */
function heldIn(account: AccountResource): readonly string[] {
  const { namespace } = account.metadata
  const isHeld = hasFinalizer(account) || !(isDeleting(account) || isPaused(account))
  return namespace !== undefined && isHeld ? [namespace] : []
}

/**
 * UIDs of the CRs that an output object is for; none if Culvert did not annotate it and only its owner reference names
 * one.
 */
function ownersOfOutput({ metadata }: KubeObject): readonly string[] {
  const { annotations = {}, ownerReferences = [] } = metadata
  return annotations[OUTPUT_OF] === undefined ? [] : ownerReferences.map(({ uid }) => uid)
}

/** The value of `inputs` and `outputs`: a Secret or ConfigMap. */
export function inputText(source: InputSource, namespace: string | undefined, name: string): string {
  return `${source}/${namespace ?? ''}/${name}`
}

/** The value of `targetIds`: an object that a spec refers to by id. */
export function idText(kind: string, id: string): string {
  return `${kind}/${id}`
}
