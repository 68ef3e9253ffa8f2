import { reasons } from '../descriptor/reasons.ts'
import { refusalPause, refusedLately } from '../identity/issued.ts'
import { heldToken, isDescribed, isLive, tokenPatch } from '../outputs/held-token.ts'
import { OutputMemory } from '../outputs/output-memory.ts'
import { type DataObject, readTarget, targetText } from '../outputs/place.ts'
import { naming, notOurs, patchTarget, takeOwnership } from '../outputs/take-ownership.ts'
import { templateChanges, templateOfOutput } from '../outputs/template.ts'
import { type FoundToken, recordToken, type TokenPlace, type TokenState, tokenPlace } from '../outputs/token.ts'
import { vacateOthers } from '../outputs/vacate.ts'
import { isMarkedAsOwn, keysWritten, ownershipOf } from '../ownership.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'

/**
 * Keeps the token of a CR in its Secret: finds it, moves it, corrects its metadata, and decides when a lost one is
 * reissued.
 */

/** Reads the CR's Secret live, once its object is known. Writes nothing. */
export async function findToken(run: Reconciliation): Promise<TokenState> {
  const place = tokenPlace(run)
  if (place === undefined) return { type: 'none' }
  const { cr, descriptor, status } = run
  // The token of an adopted object is known only to its creator.
  if (status.adopted && status.output === undefined) return { type: 'none' }
  const { target, key } = place
  const secret = await read(run, target.name)
  const ownership = ownershipOf(secret, cr)
  if (ownership.type === 'foreign') return { place, type: 'foreign', owner: ownership.owner }
  const held = heldToken(secret, key)
  if (secret !== undefined && held.token !== undefined && isLive(held, status, run.context.fingerprints)) {
    const changes = templateChanges(secret, templateOfOutput(descriptor, cr))
    const tidy = changes === undefined && isMarkedAsOwn(secret, cr) && isDescribed(secret, status, key)
    return { place, type: 'kept', token: held.token, tidy }
  }
  const token = await formerToken(run, place, secret)
  if (token !== undefined) return { place, type: 'moved', token }
  return { place, type: 'lost', why: lossOf(place, secret, held.token) }
}

/** Whether the object must be replaced now because its token is lost. */
export function isReissueDue(run: Reconciliation, state: TokenState): boolean {
  return (
    state.type === 'lost' &&
    run.memory.of(OutputMemory).pauseBeforeReissue(run.context.clock.monotonic()) === 0 &&
    refusalPause(run) === 0
  )
}

export function announceReissue({ context, cr }: Reconciliation, state: TokenState): void {
  if (state.type !== 'lost') return
  context.metrics.drift(cr.kind, 'output')
  context.events.record(cr, { type: 'Warning', reason: 'Reissued', message: `${state.why}: issuing a new token` })
}

/**
 * Corrects place, metadata and owner of the token. `fresh`: this run has created the object and stored its token, so
 * `state` is out of date.
 * @throws TerminalError if the place belongs to another owner; WaitError if the token is lost and it is too early to
 *   reissue it.
 */
export async function keepToken(run: Reconciliation, state: TokenState, fresh: boolean): Promise<void> {
  if (state.type === 'none') return
  if (!fresh) await repairToken(run, state)
  await vacateOthers(run, state.place.target)
}

async function repairToken(run: Reconciliation, state: FoundToken): Promise<void> {
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
  recordToken(run, place, { token: state.token, id: run.status.id ?? '' })
}

function tooEarly(run: Reconciliation, why: string): WaitError {
  const pause = run.memory.of(OutputMemory).pauseBeforeReissue(run.context.clock.monotonic())
  if (refusalPause(run) > pause) return refusedLately(run)
  const message = `${why}, as was the previous one: find out what causes this; Culvert will issue another token after a pause`
  return new WaitError(reasons.TokenAltered, message, Math.ceil(pause))
}

/** The token in another Secret of the CR, read live; `secret` is the one set in the spec. */
async function formerToken(
  run: Reconciliation,
  { target, key: wanted }: TokenPlace,
  secret: DataObject | undefined,
): Promise<string | undefined> {
  const { context, cr, status } = run
  for (const name of ownSecrets(run)) {
    const object = name === target.name ? secret : await read(run, name)
    if (ownershipOf(object, cr).type !== 'own') continue
    const noted = status.output?.name === name ? status.output.keys : []
    const tokens = [wanted, ...noted, ...keysWritten(object)].map((key) => heldToken(object, key))
    const live = tokens.find((held) => isLive(held, status, context.fingerprints))
    if (live !== undefined) return live.token
  }
  return undefined
}

/**
 * Secrets that may hold the token. The status may have been restored to an older one, and the watch may lag behind:
 * this process knows where it wrote the token last.
 */
function ownSecrets({ context, cr, memory, status }: Reconciliation): ReadonlySet<string> {
  const watched = context.resources.outputsOf(cr).filter(({ kind }) => kind === 'Secret')
  const names = [status.output?.name, memory.of(OutputMemory).tokenSecret, ...watched.map(({ name }) => name)]
  return new Set(names.filter((name) => name !== undefined))
}

async function writeToken(run: Reconciliation, { target, key }: TokenPlace, token: string): Promise<void> {
  const { id = '' } = run.status
  const { create } = run.internal
  const secret = await takeOwnership(run, target)
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
    : `key ${key} of ${targetText(target)} was changed`
}
