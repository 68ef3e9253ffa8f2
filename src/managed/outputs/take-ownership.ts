import { KubeError } from '../../kube/kube-error.ts'
import type { Fields } from '../descriptor/common.ts'
import { reasons } from '../descriptor/reasons.ts'
import { OUTPUT_OF } from '../names.ts'
import { isMarkedAsOwn, LABELS, noteOf, ownershipOf, withOwner } from '../ownership.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { type DataObject, type Holder, keyOfTarget, type Place, readTarget, targetText, typeOfTarget } from './place.ts'
import { NO_TEMPLATE, templateChanges, templateOfOutput } from './template.ts'

const TRIES = 5
/** An object that is deleted wakes the CR that outputs into it; this is only the fallback. */
const FALLBACK_MS = 30_000

/**
 * Makes the target ours, with the labels and annotations that the spec wants: creates it with `content`, or takes over
 * what the CR owned before it lost its status. Writes only what differs.
 * @returns the target as it is then.
 * @throws TerminalError if it belongs to another owner; nothing was written then.
 */
export async function takeOwnership(run: Reconciliation, target: Place, content: Fields = {}): Promise<DataObject> {
  return naming(target, async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await tryToTake(run, target, content)
      } catch (error) {
        if (!wasOvertaken(error) || tries === TRIES) throw error
      }
    }
  })
}

async function tryToTake(run: Reconciliation, target: Place, content: Fields): Promise<DataObject> {
  const { context, cr, descriptor } = run
  const found = await readTarget(context.kube, cr, target)
  if (found?.metadata.deletionTimestamp !== undefined) {
    throw new WaitError(reasons.Progressing, `${targetText(target)} is being deleted`, FALLBACK_MS)
  }
  const wanted = 'type' in target ? NO_TEMPLATE : templateOfOutput(descriptor, cr)
  const changes = templateChanges(found, wanted)
  if (found !== undefined && isMarkedAsOwn(found, cr) && changes === undefined) return found
  const metadata = {
    labels: { ...LABELS, ...changes?.labels },
    annotations: { [OUTPUT_OF]: noteOf(cr), ...changes?.annotations },
    ownerReferences: withOwner(found, cr),
  }
  const ownership = ownershipOf(found, cr)
  if (ownership.type === 'foreign') throw notOurs(target, ownership.owner)
  if (found === undefined) {
    const fields = { ...content, metadata, ...(target.kind === 'Secret' ? { type: 'Opaque' } : {}) }
    return context.kube.create<DataObject>(typeOfTarget(target), keyOfTarget(cr, target), fields)
  }
  return patchTarget(run, target, found, { ...content, metadata })
}

/** The error for an object that belongs to another owner. */
export function notOurs(target: Place, owner: string): TerminalError {
  const field = target.kind === 'Secret' ? 'spec.output.secret.name' : 'spec.output.configMap.name'
  const remedy = 'type' in target ? 'give this resource another name' : `choose another with ${field}`
  return new TerminalError(
    reasons.OutputNotOwned,
    `${targetText(target)} exists and belongs to ${owner}, so nothing is written to it: ${remedy}, or delete it`,
  )
}

/** @throws TerminalError if the target's data cannot change, regardless of its owner */
export function refuseImmutable(target: Place, { immutable }: DataObject): void {
  if (immutable !== true) return
  const field = target.kind === 'Secret' ? 'spec.output.secret.name' : 'spec.output.configMap.name'
  throw new TerminalError(
    reasons.OutputNotOwned,
    `${targetText(target)} is immutable and cannot be written to: delete it to have it recreated without \`immutable\`, or choose another with ${field}`,
  )
}

/**
 * Patches the target, provided that it is still the `found` one and no one has changed it.
 *
 * @param dryRun only asks the API server whether it would. Default: false
 * @throws TerminalError if the patch is of data, and the target immutable
 */
export async function patchTarget(
  { context, cr }: Holder,
  target: Place,
  found: DataObject,
  patch: Fields,
  dryRun = false,
): Promise<DataObject> {
  if (patch.data !== undefined) refuseImmutable(target, found)
  const { uid, resourceVersion } = found.metadata
  const preconditions = { uid, resourceVersion, ...(dryRun ? { dryRun } : {}) }
  return await context.kube.mergePatch<DataObject>(typeOfTarget(target), keyOfTarget(cr, target), patch, preconditions)
}

/** Whether a write failed because another client created, changed or deleted the object meanwhile. */
export function wasOvertaken(error: unknown): boolean {
  return error instanceof KubeError && OVERTAKEN.has(error.code)
}

const OVERTAKEN: ReadonlySet<string> = new Set(['Conflict', 'AlreadyExists', 'NotFound'])

/** Adds the object's name to a refusal by the apiserver, whose own message about a create lacks it. */
export async function naming<T>(target: Place, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof KubeError) || !REFUSED.has(error.code)) throw error
    const { code, status, reason, isRefusedWrite } = error
    const message = `${targetText(target)} cannot be written: ${error.message}`
    throw new KubeError(code, message, { status, reason, isRefusedWrite, cause: error })
  }
}

const REFUSED: ReadonlySet<string> = new Set(['Forbidden', 'Invalid'])

/** Calls `act` if the object exists and is ours, and again if someone changed it meanwhile. */
export async function withOwned(
  holder: Holder,
  place: Place,
  act: (found: DataObject) => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const found = await naming(place, () => readTarget(holder.context.kube, holder.cr, place))
    if (found === undefined || ownershipOf(found, holder.cr).type !== 'own') return
    try {
      await naming(place, () => act(found))
      return
    } catch (error) {
      if (!wasOvertaken(error) || tries === TRIES) throw error
    }
  }
}

/**
 * Deletes the object in the version that was found.
 * @throws KubeError `NotFound` for a 404, which a proxy may have answered: `withOwned` then checks whether the object
 *   is gone.
 */
export async function deleteFound({ context, cr }: Holder, place: Place, found: DataObject): Promise<void> {
  const { uid, resourceVersion } = found.metadata
  const isDeleted = await context.kube.delete(typeOfTarget(place), keyOfTarget(cr, place), { uid, resourceVersion })
  if (!isDeleted) throw new KubeError('NotFound', `DELETE ${place.kind}/${place.name}: not found`, { status: 404 })
}
