import type { RemoteObject } from '../../api/types.ts'
import { cut, jsonText } from '../../util/printable.ts'
import { externalId, internalOf, statusOf } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { KindCondition } from '../descriptor/readiness.ts'
import { reasons } from '../descriptor/reasons.ts'
import { externalObject, fixedDifferences } from '../identity/adopt.ts'
import { readObject } from '../identity/read-object.ts'
import { describeAll } from '../plan/announce.ts'
import { differences, type FieldDifference, type Observed, type Operation, type PlanContext } from '../plan/plan.ts'
import { planContextOf, planFor } from '../plan/remaining.ts'
import type { Wanted } from '../plan/wanted.ts'
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
  const texts = [
    ...(operations.length === 0 ? [] : [describeAll(operations)]),
    ...(fixed.length === 0 ? [] : [`${fixed.join(', ')} differ but cannot be changed`]),
  ]
  if (texts.length === 0) return result
  const context = planContextOf(run, wanted)
  const values = describeDifferences(run.descriptor, wanted, observed, { context, operations })
  const told = values === undefined ? '' : `. By field: ${values}`
  const message = `observed only; differs from the spec: ${texts.join('; ')}. Set managementPolicy: Manage to apply the spec${told}`
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
    run.recordObserved(object)
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

function readyOf({ state }: RunResult): KindCondition {
  if (state?.type === 'synced') {
    return { type: 'Ready', status: 'False', reason: state.reason, message: state.message }
  }
  const message = state?.type === 'ready' ? state.message : state?.type === 'undeclared' ? state.ready : ''
  return { type: 'Ready', status: 'True', reason: reasons.Available, message }
}

/** Limits of a message: fields whose values it shows, and characters for each value. */
const NAMED = 20
const VALUE = 160

/**
 * How the object differs from the spec: for each field, the actual and the wanted value; undefined if it does not.
 * Values of fields that may hold secrets are not shown.
 */
function describeDifferences(
  descriptor: ManagedDescriptor,
  { desired }: Wanted,
  observed: Observed,
  { context, operations }: { readonly context: PlanContext; readonly operations: readonly Operation[] },
): string | undefined {
  const own = differences(descriptor, desired, observed.remote, context).map((difference) => {
    return descriptor.fields.secret.includes(difference.field)
      ? `${difference.field} differs (it may hold secrets)`
      : valuesText(difference)
  })
  const texts = [...own, ...childDifferences(observed, operations)]
  if (texts.length === 0) return undefined
  const more = texts.length > NAMED ? `; and ${texts.length - NAMED} more` : ''
  return `${texts.slice(0, NAMED).join('; ')}${more}`
}

/**
 * Children to be updated, with the values. Those to be created or deleted are named in full in the description of the
 * plan.
 */
function childDifferences({ children }: Observed, operations: readonly Operation[]): readonly string[] {
  return operations.flatMap((operation) => {
    if (!('target' in operation) || operation.type !== 'update') return []
    const child = children.find(({ id }) => id === operation.id)
    return Object.entries(operation.body).map(([field, wanted]) => {
      return `${operation.about}: ${valuesText({ field, found: child?.[field], wanted })}`
    })
  })
}

function valuesText({ field, found, wanted }: FieldDifference): string {
  return `${field} is ${valueText(found)} and would be ${valueText(wanted)}`
}

function valueText(value: unknown): string {
  return cut(value === undefined ? 'unset' : jsonText(value), VALUE)
}
