import type { RemoteObject } from '../../api/types.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { AccountName } from '../../managed/attempt.ts'
import { type CustomResource, externalId } from '../../managed/cr.ts'
import type { Fields } from '../../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../managed/descriptor/descriptor.ts'
import type { InternalStatus } from '../../managed/descriptor/internal.ts'
import { alikeOf } from '../../managed/identity/alike.ts'
import { markerOf } from '../../managed/markers/marker.ts'
import { recoverable } from '../../managed/markers/own-objects.ts'
import { FINALIZER, OUTPUT_OF } from '../../managed/names.ts'
import { tokenPatch } from '../../managed/outputs/held-token.ts'
import type { DataObject } from '../../managed/outputs/place.ts'
import { LABELS, noteOf, withOwner } from '../../managed/ownership.ts'
import { applyMergePatch } from '../../util/json.ts'
import { rfc3339Of } from '../../util/time.ts'

/**
 * What the operator would remember of a resource, where there is no cluster to ask: told from the marker of the object
 * that the account has for it. A plan then takes that object to be equal to the spec that was applied last in
 * everything that an account does not show: secrets, and who added which module of it.
 */

/** In the form of a fingerprint, and made with no salt that there is: what was sent last is unknown. */
const UNKNOWN_INPUTS = 'unknown0-0000000000000000'
const UNKNOWN_NONCE = '0'.repeat(32)
/** Stands for a token that only the cluster has. */
const TOKEN = 'a-token-in-the-cluster'

/** A resource with its memory; the resource as given if the account has no object of its. */
export interface Remembered {
  readonly cr: CustomResource
  /** The Secret with its token, for kinds that have one. */
  readonly secret: KubeObject | undefined
}

/** @param objects those of the resource's collection @param account where the resource lives */
export function remembered(
  descriptor: ManagedDescriptor,
  cr: CustomResource,
  objects: readonly RemoteObject[],
  { account, installation }: { readonly account: AccountName; readonly installation: string },
): Remembered {
  const own = objectOf(descriptor, cr, objects, installation)
  if (own === undefined) return { cr, secret: undefined }
  // A mark that the spec's own text has replaced says no more: any will do.
  const { uid, nonce } = markerOf(own) ?? { uid: cr.metadata.uid, nonce: UNKNOWN_NONCE }
  const held = {
    ...cr,
    metadata: { ...cr.metadata, uid, generation: 1, finalizers: [FINALIZER] },
  }
  const internal: InternalStatus = {
    create: { nonce, attempt: 0 },
    ...(descriptor.modules === undefined ? {} : { appliedModules: [...descriptor.modules.held(own)].sort() }),
    ...((descriptor.inputs?.of(cr.spec) ?? []).length === 0 ? {} : { inputsFingerprint: UNKNOWN_INPUTS }),
  }
  const createdAt = typeof own.created_at === 'string' ? rfc3339Of(own.created_at) : undefined
  const place = tokenPlaceOf(descriptor, held)
  const status = {
    ...descriptor.status.shown(own, internal, cr.spec),
    id: own.id,
    accountRef: account,
    observedGeneration: 1,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(place === undefined ? {} : { output: { kind: 'Secret' as const, name: place.name, keys: [place.key] } }),
    internal,
  }
  return { cr: { ...held, status }, secret: place && tokenSecret(held, status, place, nonce) }
}

/**
 * The object with the mark of the resource. Where the spec's own text has replaced the mark, the only object with that
 * text: an operator without its status would ask a person, and who plans with these manifests has answered.
 */
function objectOf(
  { identity: { markedBy } }: ManagedDescriptor,
  cr: CustomResource,
  objects: readonly RemoteObject[],
  installation: string,
): RemoteObject | undefined {
  const marked = recoverable(objects, cr, installation).at(-1)
  // A resource that names its object adopts it, unless the mark says that it made it.
  if (marked !== undefined || externalId(cr) !== undefined) return marked
  const { unmarked } = alikeOf(objects, cr, markedBy, installation)
  return unmarked.length === 1 ? objects.find(({ id }) => id === unmarked[0]) : undefined
}

interface TokenKey {
  readonly name: string
  readonly key: string
}

function tokenPlaceOf({ output }: ManagedDescriptor, cr: CustomResource): TokenKey | undefined {
  return output?.type === 'one-time' ? output.target(cr.spec, cr.metadata.name) : undefined
}

/** The Secret as the operator keeps it, with another token. */
function tokenSecret(
  cr: CustomResource,
  status: Fields & { readonly id: string; readonly internal: InternalStatus },
  { name, key }: TokenKey,
  nonce: string,
): KubeObject {
  const { namespace } = cr.metadata
  const empty = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: LABELS,
      annotations: { [OUTPUT_OF]: noteOf(cr) },
      ownerReferences: withOwner(undefined, cr),
      uid: '',
      resourceVersion: '',
    },
    type: 'Opaque',
  } satisfies DataObject
  const { uid: _uid, ...metadata } = empty.metadata
  const patch = tokenPatch(empty, status, key, { id: status.id, nonce, token: TOKEN })
  return applyMergePatch({ ...empty, metadata }, patch) as KubeObject
}
