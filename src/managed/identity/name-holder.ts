import { isRefusal } from '../../api/errors.ts'
import type { RemoteObject } from '../../api/types.ts'
import { type CustomResource, nameOf, shortName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { markerOf } from '../markers/marker.ts'
import { uniqueNameKey } from '../markers/object-keys.ts'
import type { Wanted } from '../plan/wanted.ts'
import { keeperOf } from '../references/reach.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { recoverableObjects } from './recovery.ts'

/** The known facts about the object that has a name. */
export interface NameHolder {
  /** Namespace of the resource that wants the name. */
  readonly namespace: string | undefined
  /** Id of the object that has the name. */
  readonly id: string
  /** The resource that holds that object. */
  readonly keeper: CustomResource | undefined
  /** Whether the object carries the marker of another installation. */
  readonly isElsewhere: boolean
  /** Whether namespaces share the account. */
  readonly isShared: boolean
}

/**
 * The owner of a name and the remedy, to follow "belongs to"; undefined if the reader must not know. For a resource of
 * another namespace, only its existence is revealed, and not even that if namespaces share the account: otherwise one
 * could learn about the others by asking for names.
 */
export function describeNameHolder({ namespace, id, keeper, isElsewhere, isShared }: NameHolder): string | undefined {
  if (keeper !== undefined && keeper.metadata.namespace === namespace) {
    return `${shortName(nameOf(keeper))} in this namespace: remove it there, or choose another name`
  }
  if (isShared) return undefined
  if (keeper !== undefined) return 'a resource in another namespace: choose another name'
  if (isElsewhere) return `${id} of another installation: have it released there, or choose another name`
  return `${id}, which no resource here manages: adopt it (spec.externalID and managementPolicy: Manage), delete it in the service, or choose another name`
}

/** Until the next run, which takes the object. Milliseconds. */
const TAKEN_SOON_MS = 1_000

/**
 * `error`, extended by who has the name that the API refused, if the account cache shows that it is taken; a wait if
 * the next run takes the object. Makes no call: the collection has been listed before any request that can be refused.
 */
export function namingHolder(run: Reconciliation, wanted: Wanted, error: unknown): unknown {
  if (!isRefusal(error)) return error
  const found = namedObject(run, wanted)
  if (found === undefined) return error
  const { name, object } = found
  // Once this CR has no object, it takes one that a CR of the same name, which etcd has lost, made.
  if (recoverableObjects(run).some(({ id }) => id === object.id)) {
    const message = `${name} belongs to ${object.id}, which a former resource with this name created: taking it over`
    return new WaitError(reasons.Progressing, message, TAKEN_SOON_MS)
  }
  const told = holderOf(run, object)
  if (told === undefined) return error
  return new TerminalError(
    reasons.Conflict,
    `${error.message}; ${name} belongs to ${told}; Culvert retries every ten minutes`,
    error,
  )
}

/** The object that has a name which the spec wants. */
function namedObject(
  { cr, descriptor, session, status }: Reconciliation,
  { desired }: Wanted,
): { readonly name: string; readonly object: RemoteObject } | undefined {
  const { uniqueNames } = descriptor.identity
  if (uniqueNames === undefined) return undefined
  const names = new Set(uniqueNames(descriptor.fields.comparable(descriptor.fields.desire(desired, undefined))))
  const keys = [...names].map((name) => uniqueNameKey(cr.kind, name))
  for (const collection of descriptor.identity.collections) {
    for (const object of keys.flatMap((key) => session.cache.find(collection, key))) {
      const name = uniqueNames(descriptor.fields.observe(object)).find((each) => names.has(each))
      if (name !== undefined && object.id !== status.id) return { name, object }
    }
  }
  return undefined
}

function holderOf({ context, cr, session }: Reconciliation, object: RemoteObject): string | undefined {
  const keeper = keeperOf(context, session, cr.kind, object.id)
  if (keeper?.metadata.uid === cr.metadata.uid) return undefined
  const marker = markerOf(object)
  return describeNameHolder({
    namespace: cr.metadata.namespace,
    id: object.id,
    keeper,
    isElsewhere: marker !== undefined && marker.installation !== context.installation,
    isShared: session.access.granted !== undefined,
  })
}
