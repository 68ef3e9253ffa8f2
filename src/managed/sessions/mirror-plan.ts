import type { RemoteObject } from '../../api/types.ts'
import { equalJSON } from '../../util/json.ts'
import { type AccountResource, nameOfAccount } from '../account-resource.ts'
import { isDeleting } from '../cr.ts'
import type { Fields } from '../descriptor/common.ts'
import type { MirrorDescriptor } from '../descriptor/mirror.ts'
import { mergePatch } from '../run/merge-patch.ts'
import { type MirroredObject, mirrorName, ownedBy, ownerReference } from './mirrored.ts'

/** A CR to be created, with two writes, since the status is a subresource. */
export interface MirrorCreate {
  readonly namespace: string
  readonly name: string
  readonly metadata: Fields
  readonly status: Fields
}

/** Corrections of a CR: merge patches, one write each. */
export interface MirrorUpdate {
  readonly object: MirroredObject
  readonly metadata: Fields | undefined
  readonly status: Fields | undefined
}

/** The writes that make the CRs show what was listed. */
export interface MirrorPlan {
  readonly create: readonly MirrorCreate[]
  readonly update: readonly MirrorUpdate[]
  readonly remove: readonly MirroredObject[]
}

export interface MirrorView {
  readonly descriptor: MirrorDescriptor
  readonly account: AccountResource
  /** The namespace for the CRs. */
  readonly namespace: string
  /** A complete list. */
  readonly listed: readonly RemoteObject[]
  /** The account's CRs in all namespaces. */
  readonly mirrored: readonly MirroredObject[]
  /** Whether another account has a CR of that name in the namespace: then that one shows the object. */
  readonly isTaken: (name: string) => boolean
}

/** Compares the list with the mirrors. Pure; if they are equal, there are no writes. */
export function planMirror({ descriptor, account, namespace, listed, mirrored, isTaken }: MirrorView): MirrorPlan {
  const here = new Map<string, MirroredObject>()
  for (const object of mirrored) if (object.metadata.namespace === namespace) here.set(object.metadata.name, object)
  const create: MirrorCreate[] = []
  const update: MirrorUpdate[] = []
  const shown = new Set<string>()
  for (const remote of listed) {
    const name = mirrorName(descriptor.namePrefix, remote.id)
    if (shown.has(name) || isTaken(name)) continue
    shown.add(name)
    const status = { ...descriptor.status(remote), accountRef: nameOfAccount(account) }
    const object = here.get(name)
    if (object === undefined)
      create.push({ namespace, name, metadata: newMetadata(descriptor, account, remote), status })
    // A CR that is being deleted must be gone before it can be created again.
    else if (!isDeleting(object)) update.push(...corrections(object, descriptor.labels(remote), status, account))
  }
  const remove = mirrored.filter((object) => {
    const { namespace: at, name } = object.metadata
    return !isDeleting(object) && (at !== namespace || !shown.has(name))
  })
  return { create, update, remove }
}

/** The plan that removes the whole mirror. */
export function removalOf(mirrored: readonly MirroredObject[]): MirrorPlan {
  return { create: [], update: [], remove: mirrored.filter((object) => !isDeleting(object)) }
}

function newMetadata(descriptor: MirrorDescriptor, account: AccountResource, remote: RemoteObject): Fields {
  const labels = Object.entries(descriptor.labels(remote)).filter(([, value]) => value !== undefined)
  return { labels: Object.fromEntries(labels), ownerReferences: [ownerReference(account)] }
}

/** Returns at most one correction. Labels with other keys, and other owners, are not Culvert's. */
function corrections(
  object: MirroredObject,
  wanted: Readonly<Record<string, string | undefined>>,
  status: Fields,
  account: AccountResource,
): readonly MirrorUpdate[] {
  const { labels: found = {}, ownerReferences = [] } = object.metadata
  const labels = Object.fromEntries(
    Object.entries(wanted)
      .filter(([key, value]) => found[key] !== value)
      .map(([key, value]) => [key, value ?? null]),
  )
  const owners = ownedBy(account, object)
  const metadata = {
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(equalOwners(owners, ownerReferences) ? {} : { ownerReferences: owners }),
  }
  const statusPatch = mergePatch(object.status ?? {}, status)
  if (Object.keys(metadata).length === 0 && statusPatch === undefined) return []
  return [{ object, metadata: Object.keys(metadata).length === 0 ? undefined : metadata, status: statusPatch }]
}

/** The order of owners, and fields that others added to an entry, are ignored. */
function equalOwners(
  wanted: ReturnType<typeof ownedBy>,
  found: NonNullable<MirroredObject['metadata']['ownerReferences']>,
): boolean {
  const plain = (owners: typeof found): unknown =>
    owners
      .map(({ apiVersion, kind, name, uid }) => ({ apiVersion, kind, name, uid }))
      .sort((left, right) => (left.uid < right.uid ? -1 : 1))
  return equalJSON(plain(wanted), plain(found))
}
