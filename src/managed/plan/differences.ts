import { cut, jsonText } from '../../util/printable.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { Wanted } from './desired.ts'
import { type Difference, differences, type Observed, type Operation, type PlanContext } from './plan.ts'

/** Limits of a message: fields whose values it shows, and characters for each value. */
const NAMED = 20
const VALUE = 160

/**
 * How the object differs from the spec: for each field, the actual and the wanted value; undefined if it does not.
 * Values of fields that may hold secrets are not shown.
 */
export function describeDifferences(
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

function valuesText({ field, found, wanted }: Difference): string {
  return `${field} is ${valueText(found)} and would be ${valueText(wanted)}`
}

function valueText(value: unknown): string {
  return cut(value === undefined ? 'unset' : jsonText(value), VALUE)
}
