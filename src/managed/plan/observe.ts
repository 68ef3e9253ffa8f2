import type { RemoteObject } from '../../api/types.ts'
import { externalId, internalOf, statusOf } from '../cr.ts'
import type { KindCondition } from '../descriptor/status.ts'
import { externalObject, fixedDifferences } from '../identity/adopt.ts'
import { readObject } from '../identity/read-object.ts'
import { TerminalError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { conclude } from '../status/conclude.ts'
import { reasons } from '../status/reasons.ts'
import type { ReconcileResult } from '../status/result.ts'
import { describeAll } from './announce.ts'
import { observeChildren } from './children.ts'
import { resolveWanted } from './desired.ts'
import { describeDifferences } from './differences.ts'
import { planContextOf, planFor } from './remaining.ts'

/**
 * `managementPolicy: Observe`: reports the object's status and how it differs from the spec. The plan is the one that
 * Manage would execute; nothing of it is executed.
 */
export async function observe(run: Reconciliation): Promise<ReconcileResult> {
  const remote = await observedObject(run)
  const wanted = await resolveWanted(run)
  const observed = await observeChildren(run, remote)
  const operations = planFor(run, wanted, observed)
  const fixed = fixedDifferences(run, wanted, remote)
  const result = conclude(run, observed)
  const differences = [
    ...(operations.length === 0 ? [] : [describeAll(operations)]),
    ...(fixed.length === 0 ? [] : [`${fixed.join(', ')} differ but cannot be changed`]),
  ]
  if (differences.length === 0) return result
  const context = planContextOf(run, wanted)
  const values = describeDifferences(run.descriptor, wanted, observed, { context, operations })
  const told = values === undefined ? '' : `. By field: ${values}`
  const message = `observed only; differs from the spec: ${differences.join('; ')}. Set managementPolicy: Manage to apply the spec${told}`
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
        'spec.managementPolicy: Observe requires an object to observe: set spec.externalID to its id, or managementPolicy: Manage to have one created',
      )
    }
    const object = await externalObject(run, id)
    run.noteObserved(object)
    return object
  }
  if (id !== undefined && id !== held) {
    throw new TerminalError(
      reasons.NotAdoptable,
      `this resource manages ${held}: set spec.externalID to that id, or delete this resource and recreate it to observe ${id}`,
    )
  }
  const object = held === undefined ? undefined : await readObject(run, held)
  if (object !== undefined) return object
  throw new TerminalError(
    reasons.RemoteMissing,
    `${held ?? 'the object'} was deleted outside Culvert: set managementPolicy: Manage to have it recreated`,
  )
}

function readyOf({ state }: ReconcileResult): KindCondition {
  if (state?.type === 'synced') {
    return { type: 'Ready', status: 'False', reason: state.reason, message: state.message }
  }
  const message = state?.type === 'ready' ? state.message : state?.type === 'undeclared' ? state.ready : ''
  return { type: 'Ready', status: 'True', reason: reasons.Available, message }
}
