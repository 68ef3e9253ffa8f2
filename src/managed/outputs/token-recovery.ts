import type { RemoteObject } from '../../api/types.ts'
import { isDeleting } from '../cr.ts'
import { keysWritten, ownershipOf } from '../ownership.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { heldToken, type Issued } from './held-token.ts'
import { readTarget } from './place.ts'
import { naming } from './take-ownership.ts'
import { recordToken, type TokenPlace, tokenPlace } from './token.ts'

/**
 * The object whose token the CR's Secret holds for `nonce`: a former process got the answer and stored it there.
 * Undefined for kinds without a token, and for a CR that is being deleted: it needs none.
 */
export async function objectInSecret(run: Reconciliation, nonce: string): Promise<RemoteObject | undefined> {
  const held = (await heldTokens(run)).find((each) => each.nonce === nonce)
  if (held === undefined) return undefined
  recordToken(run, held.place, held)
  const { collection, session } = run
  const known = session.cache.get(collection, held.id)?.object ?? (await session.cache.fetch(collection, held.id))
  // If it was deleted since, that is noticed later and it is created again, like any other.
  return known ?? { id: held.id }
}

/** Which of the objects is the CR's: the one whose token its Secret holds or, for kinds without a token, the first. */
export async function withItsToken(
  run: Reconciliation,
  objects: readonly RemoteObject[],
): Promise<RemoteObject | undefined> {
  if (tokenPlace(run) === undefined || isDeleting(run.cr) || objects.length === 0) return objects[0]
  const ids = new Set(objects.map(({ id }) => id))
  const held = (await heldTokens(run)).find(({ id }) => ids.has(id))
  if (held === undefined) return undefined
  recordToken(run, held.place, held)
  return objects.find(({ id }) => id === held.id)
}

interface Held extends Issued {
  /** Where the token is stored, which may be the place that the spec named before. */
  readonly place: TokenPlace
}

/**
 * Tokens in Secrets of the CR, with what they were issued for: first in the Secret set in the spec, then in all
 * others that it wrote to.
 */
async function heldTokens(run: Reconciliation): Promise<readonly Held[]> {
  const place = tokenPlace(run)
  if (place === undefined || isDeleting(run.cr)) return []
  const found: Held[] = []
  const others = run.context.resources.outputsOf(run.cr).filter(({ kind }) => kind === place.target.kind)
  for (const name of new Set([place.target.name, ...others.map((target) => target.name)])) {
    found.push(...(await heldIn(run, { ...place, target: { ...place.target, name } })))
  }
  return found
}

async function heldIn({ context, cr }: Reconciliation, place: TokenPlace): Promise<readonly Held[]> {
  const secret = await naming(place.target, () => readTarget(context.kube, cr, place.target))
  const { type } = ownershipOf(secret, cr)
  if (type !== 'own' && type !== 'namesake') return []
  return [...new Set([place.key, ...keysWritten(secret)])].flatMap((key) => {
    const { id, nonce = '', token, intact } = heldToken(secret, key)
    return id === undefined || token === undefined || !intact ? [] : [{ id, nonce, token, place: { ...place, key } }]
  })
}
