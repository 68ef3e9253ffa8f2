import { printable } from '../../util/printable.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { Wanted } from './desired.ts'
import { type Difference, differences, type Observed, type Operation, type PlanContext } from './plan.ts'

/** How many fields a message tells the values of, and with how many characters each. */
const NAMED = 20
const VALUE = 160

/**
 * In what the object differs from the spec, field by field, with the value there and the value wanted; undefined when it does not. Of fields that hold
 * secrets only that they differ.
 */
export function describeDifferences(
  descriptor: ManagedDescriptor,
  { desired }: Wanted,
  observed: Observed,
  { context, operations }: { readonly context: PlanContext; readonly operations: readonly Operation[] },
): string | undefined {
  const own = differences(descriptor, desired, observed.remote, context).map((difference) => {
    return descriptor.secretFields.includes(difference.field)
      ? `${difference.field} differs (it may hold secrets)`
      : valuesText(difference)
  })
  const texts = [...own, ...childDifferences(observed, operations)]
  if (texts.length === 0) return undefined
  const more = texts.length > NAMED ? `; and ${texts.length - NAMED} more` : ''
  return `${texts.slice(0, NAMED).join('; ')}${more}`
}

/** Children that are to be changed, with the values. Those that are to be made or deleted are named in full where the plan is described. */
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
  const text = printable(value === undefined ? 'unset' : JSON.stringify(value))
  return text.length > VALUE ? `${text.slice(0, VALUE - 1).toWellFormed()}…` : text
}
