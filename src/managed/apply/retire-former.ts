import { isRefusal } from '../../api/errors.ts'
import { writeReasons } from '../../telemetry/write-origin.ts'
import { internalOf, targetKeyOf, unresolvedAttempt } from '../cr.ts'
import type { Former } from '../descriptor/internal.ts'
import { checkExistence, deleteObject } from '../identity/gone.ts'
import { isNeighbours } from '../identity/taken-over.ts'
import { dependentsOf, IN_USE_MS, referrersInReach } from '../references/dependents.ts'
import { overlapLeft } from '../rotation/rotation.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { ApplyMemory } from './apply-memory.ts'

/**
 * Deletes superseded objects of the CR that have no dependents left. Only stored state counts: until the status names
 * the successor, the old object is all there is.
 * @returns milliseconds until the next check; undefined when none is left.
 */
export async function retireFormer(run: Reconciliation): Promise<number | undefined> {
  const { superseded = [] } = run.internal
  if (superseded.length === 0) return undefined
  if (run.unstored || unresolvedAttempt(run.cr) !== undefined) return 0
  const left: Former[] = []
  let wait = Number.POSITIVE_INFINITY
  for (const former of superseded) {
    const ms = await retire(run, former)
    if (ms === undefined) continue
    left.push(former)
    wait = Math.min(wait, ms)
  }
  run.recordInternal({ superseded: left.length === 0 ? undefined : left })
  if (left.length === 0) run.memory.of(ApplyMemory).retiringSince = undefined
  return left.length === 0 ? undefined : wait
}

/** @returns how long to wait until the next check, in milliseconds; undefined when the superseded object is gone. */
async function retire(run: Reconciliation, former: Former): Promise<number | undefined> {
  const { clock, events } = run.context
  const { id } = former
  const early = overlapLeft(run, former)
  if (early > 0) return early
  const existence = await checkExistence(run, run.collection, id)
  if (existence.type === 'unsettled') return existence.ms
  // A status that was restored or copied may name another CR's object.
  if (existence.type === 'gone' || isNeighbours(run, existence.object)) return undefined
  if (referrersHold(run, id)) return IN_USE_MS
  if (await isKeyInUse(run, former)) return IN_USE_MS
  const since = run.memory.of(ApplyMemory).retiringSince ?? clock.monotonic()
  run.memory.of(ApplyMemory).retiringSince = since
  const { collection, cr } = run
  const dependents = await dependentsOf(run, { kind: cr.kind, collection, id }, since)
  if (dependents.length > 0 || referrersHold(run, id)) {
    // By the next check they may have gone: these lists will not count then.
    run.memory.of(ApplyMemory).retiringSince = undefined
    return IN_USE_MS
  }
  try {
    const deletion = await deleteObject(run, run.collection, id, writeReasons.superseded)
    if (typeof deletion !== 'string') return deletion.ms
  } catch (error) {
    if (isRefusal(error)) return IN_USE_MS
    throw error
  }
  events.record(run.cr, { type: 'Normal', reason: 'FormerDeleted', message: `deleted ${id}, which was replaced` })
  return undefined
}

/**
 * Whether an account uses, or may use, the token of a superseded object: revoking it would lock the operator out. An
 * account wakes its resources once it uses another key.
 */
async function isKeyInUse(run: Reconciliation, { id, digest, adopted }: Former): Promise<boolean> {
  const { context, cr, descriptor, memory } = run
  if (descriptor.output?.type !== 'one-time' || !descriptor.output.opensAccounts) return false
  if (digest === undefined && !adopted) return false
  const dependent = await context.keyDependents.dependentOf(cr, id, digest)
  if (dependent !== undefined && memory.of(ApplyMemory).keptFor !== id) {
    const key = adopted ? 'an unmanaged key, which may be this one' : 'it'
    const message = `${id}, which was replaced, is kept while ${dependent} uses ${key}`
    context.events.record(cr, { type: 'Normal', reason: 'FormerKept', message })
  }
  memory.of(ApplyMemory).keptFor = dependent === undefined ? undefined : id
  return dependent !== undefined
}

/**
 * Whether CRs hold the superseded object: those that still refer to it, and those that are creating an object, for
 * which they may have resolved the old id. Their next status write wakes this CR, so no list is needed.
 */
function referrersHold({ context, cr }: Reconciliation, id: string): boolean {
  return referrersInReach(context, targetKeyOf(cr), cr).some((referrer) => {
    const holds = internalOf(referrer).references?.some((reference) => reference.id === id) ?? false
    return holds || unresolvedAttempt(referrer) !== undefined
  })
}
