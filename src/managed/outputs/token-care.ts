import { countedRepeat, pauseBeforeNext } from '../reconcile/damping.ts'
import { WaitError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { reasons } from '../status/reasons.ts'
import { claim, naming, notOurs, patchTarget } from './claim.ts'
import { heldToken, isDescribed, isLive, tokenPatch } from './held-token.ts'
import { refusalPause, refusedLately } from './issued.ts'
import { isClaimed, ownershipOf } from './ownership.ts'
import { type DataObject, readTarget, targetText } from './place.ts'
import { templateChanges, templateOfOutput } from './template.ts'
import { noteToken, type TokenPlace, tokenPlace } from './token.ts'
import { vacateOthers } from './vacate.ts'

/** How the token of a CR was found; `none` for kinds that have none. */
export type TokenState = { readonly type: 'none' } | Found

type Found =
  /** The live token is in its place, where all about it is `tidy` or not. */
  | (Placed & { readonly type: 'kept'; readonly token: string; readonly tidy: boolean })
  /** It is where the spec wanted it before. */
  | (Placed & { readonly type: 'moved'; readonly token: string })
  /** The place belongs to somebody else. */
  | (Placed & { readonly type: 'foreign'; readonly owner: string })
  /** It is nowhere. */
  | (Placed & { readonly type: 'lost'; readonly why: string })

interface Placed {
  readonly place: TokenPlace
  /** Where the spec wanted it before, if that was elsewhere. */
  readonly former: FormerPlace | undefined
}

interface FormerPlace {
  readonly name: string
  readonly key: string
}

/** A live look at the Secret of the CR, once its object is known. Writes nothing. */
export async function findToken(run: Reconciliation): Promise<TokenState> {
  const place = tokenPlace(run)
  if (place === undefined) return { type: 'none' }
  const { cr, descriptor, status } = run
  // Nobody but who made it was told the token of an adopted object.
  if (status.adopted && status.output === undefined) return { type: 'none' }
  const { target, key } = place
  const placed: Placed = { place, former: formerPlace(run, place) }
  const secret = await read(run, target.name)
  const ownership = ownershipOf(secret, cr)
  if (ownership.type === 'foreign') return { ...placed, type: 'foreign', owner: ownership.owner }
  const held = heldToken(secret, key)
  if (secret !== undefined && held.token !== undefined && isLive(held, status, run.context.fingerprints)) {
    const changes = templateChanges(secret, templateOfOutput(descriptor, cr))
    const tidy = changes === undefined && isClaimed(secret, cr) && isDescribed(secret, status, key)
    return { ...placed, type: 'kept', token: held.token, tidy }
  }
  const token = await formerToken(run, placed, secret)
  if (token !== undefined) return { ...placed, type: 'moved', token }
  return { ...placed, type: 'lost', why: lossOf(place, secret, held.token) }
}

/** Whether the object is to be replaced, now, because its token is lost. */
export function isReissueDue(run: Reconciliation, state: TokenState): boolean {
  return state.type === 'lost' && reissuePause(run) === 0 && refusalPause(run) === 0
}

function reissuePause({ context, memory }: Reconciliation): number {
  return pauseBeforeNext(memory.reissues, context.clock.monotonic())
}

export function announceReissue({ context, cr }: Reconciliation, state: TokenState): void {
  if (state.type !== 'lost') return
  context.metrics.drift(cr.kind, 'output')
  context.events.record(cr, { type: 'Warning', reason: 'Reissued', message: `${state.why}: issuing a new token` })
}

/** Counts a lost token that was issued anew. */
export function countReissue({ context, memory }: Reconciliation): void {
  memory.reissues = countedRepeat(memory.reissues, context.clock.monotonic())
}

/**
 * Puts right what is about the token: its place, its description, its owner. `fresh`: this run has made the object and
 * stored the token, so that the state is that of before.
 * @throws TerminalError when the place belongs to somebody else; WaitError when the token is lost and too early to be
 *   issued anew.
 */
export async function keepToken(run: Reconciliation, state: TokenState, fresh: boolean): Promise<void> {
  if (state.type === 'none') return
  if (!fresh) await putRight(run, state)
  await vacateOthers(run, state.place.target)
}

async function putRight(run: Reconciliation, state: Found): Promise<void> {
  const { place } = state
  switch (state.type) {
    case 'foreign':
      throw notOurs(place.target, state.owner)
    case 'lost':
      throw tooEarly(run, state.why)
    case 'moved':
      await writeToken(run, place, state.token)
      break
    case 'kept':
      if (!state.tidy) await writeToken(run, place, state.token)
  }
  noteToken(run, place, { token: state.token, id: run.status.id ?? '' })
}

function tooEarly(run: Reconciliation, why: string): WaitError {
  const pause = reissuePause(run)
  if (refusalPause(run) > pause) return refusedLately(run)
  const message = `${why}, and so was the one before: find out what does that; another token is issued in a while`
  return new WaitError(reasons.TokenAltered, message, Math.ceil(pause))
}

/** The token under the place that the status names, where that is another than the spec's. */
async function formerToken(
  run: Reconciliation,
  { place, former }: Placed,
  secret: DataObject | undefined,
): Promise<string | undefined> {
  if (former === undefined) return undefined
  const { cr, status } = run
  const object = former.name === place.target.name ? secret : await read(run, former.name)
  if (ownershipOf(object, cr).type !== 'own') return undefined
  const held = heldToken(object, former.key)
  return isLive(held, status, run.context.fingerprints) ? held.token : undefined
}

function formerPlace({ status }: Reconciliation, { target, key }: TokenPlace): FormerPlace | undefined {
  const { output } = status
  const formerKey = output?.keys[0]
  if (output === undefined || formerKey === undefined) return undefined
  return output.name === target.name && formerKey === key ? undefined : { name: output.name, key: formerKey }
}

async function writeToken(run: Reconciliation, { target, key }: TokenPlace, token: string): Promise<void> {
  const { id = '' } = run.status
  const { create } = run.internal
  const secret = await claim(run, target)
  if (isLive(heldToken(secret, key), run.status, run.context.fingerprints) && isDescribed(secret, run.status, key))
    return
  const patch = tokenPatch(secret, run.status, key, { id, nonce: create?.nonce ?? '', token })
  await naming(target, () => patchTarget(run, target, secret, patch))
}

function read({ context, cr }: Reconciliation, name: string): Promise<DataObject | undefined> {
  const target = { kind: 'Secret', name } as const
  return naming(target, () => readTarget(context.kube, cr, target))
}

function lossOf({ target, key }: TokenPlace, secret: DataObject | undefined, token: string | undefined): string {
  if (secret === undefined) return `${targetText(target)} was deleted`
  return token === undefined
    ? `${targetText(target)} has lost its key ${key}`
    : `key ${key} of ${targetText(target)} was altered`
}
