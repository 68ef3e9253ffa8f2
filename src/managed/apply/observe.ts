import type { RemoteObject } from '../../api/types.ts'
import { externalId, internalOf, statusOf } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { KindCondition } from '../descriptor/status.ts'
import { externalObject, fixedDifferences } from '../identity/adopt.ts'
import { readObject } from '../identity/read-object.ts'
import { describeAll } from '../plan/announce.ts'
import { describeDifferences } from '../plan/differences.ts'
import { planContextOf, planFor } from '../plan/remaining.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { RunResult } from '../run/result.ts'
import { observeChildren } from './children.ts'
import { conclude } from './conclude.ts'
import { resolveWanted } from './resolve-wanted.ts'

/**
 * `managementPolicy: Observe`: reports the object's status and how it differs from the spec. The plan is the one that
 * Manage would execute; nothing of it is executed.
 */
export async function observe(run: Reconciliation): Promise<RunResult> {
  const remote = await observedObject(run)
  const wanted = await resolveWanted(run)
  const observed = await observeChildren(run, remote)
  const operations = planFor(run, wanted, observed)
  const fixed = fixedDifferences(run, wanted, remote)
  const result = conclude(run, observed)
  const differences = [
    ...(operations.length === 0 ? [] : [describeAll(operations)]),
    ...(fixed.length === 0 ? [] : [`${fixed.join(', ')} differ and cannot be changed`]),
  ]
  if (differences.length === 0) return result
  const context = planContextOf(run, wanted)
  const values = describeDifferences(run.descriptor, wanted, observed, { context, operations })
  const told = values === undefined ? '' : `. By field: ${values}`
  const message = `only observed; to be equal to the spec it would take: ${differences.join('; ')}. Set managementPolicy: Manage for that${told}`
  return { ...result, state: { type: 'observed', ready: readyOf(result), message } }
}

/** The object of `spec.externalID`, or else the one that the CR created before it was set to Observe. */
async function observedObject(run: Reconciliation): Promise<RemoteObject> {
  const { id: held } = statusOf(run.cr)
  const { create } = internalOf(run.cr)
  const id = externalId(run.cr)
  if (create === undefined) {
    if (id === undefined) {
      throw new TerminalError(
        reasons.InvalidSpec,
        'spec.managementPolicy: Observe needs an object to observe: set spec.externalID to its id, or managementPolicy: Manage to have one created',
      )
    }
    const object = await externalObject(run, id)
    run.noteObserved(object)
    return object
  }
  if (id !== undefined && id !== held) {
    throw new TerminalError(
      reasons.NotAdoptable,
      `this resource holds ${held}: set spec.externalID to that id, or delete this resource and create it again to observe ${id}`,
    )
  }
  const object = held === undefined ? undefined : await readObject(run, held)
  if (object !== undefined) return object
  throw new TerminalError(
    reasons.RemoteMissing,
    `${held ?? 'the object'} was deleted at the API: set managementPolicy: Manage to have it created again`,
  )
}

function readyOf({ state }: RunResult): KindCondition {
  if (state?.type === 'synced') {
    return { type: 'Ready', status: 'False', reason: state.reason, message: state.message }
  }
  const message = state?.type === 'ready' ? state.message : state?.type === 'undeclared' ? state.ready : ''
  return { type: 'Ready', status: 'True', reason: reasons.Available, message }
}
