import type { FieldChange } from '../../managed/plan/field-changes.ts'
import { printable } from '../../util/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { KNOWN_AFTER_APPLY, withoutPlaceholders } from './answers.ts'
import type { Plan, Unplanned } from './make-plan.ts'
import type { PlanOperation } from './operations.ts'

/** Colours a text; the text itself where there are none. */
export type Paint = Terminal['styled']

const SIGNS = { create: ['+', 'green'], update: ['~', 'yellow'], delete: ['-', 'red'] } as const

/** Longest value that is shown whole, in characters. */
const VALUE_LENGTH = 160

/** The plan as text, line by line. */
export function planText({ operations, unplanned }: Plan, paint: Paint): readonly string[] {
  return [
    ...operations.flatMap((operation, index) => operationText(operation, index + 1, paint)),
    ...(unplanned.length === 0 ? [] : [paint('bold', 'Not carried out, or not yet:')]),
    ...unplanned.map((each) => unplannedText(each, paint)),
    paint('bold', summaryText({ operations, unplanned })),
  ]
}

function operationText(operation: PlanOperation, number: number, paint: Paint): readonly string[] {
  const [sign, colour] = SIGNS[operation.action]
  const head = `${number}. ${sign} ${operation.action} ${objectText(operation)} for ${resourceText(operation)}`
  const told = [
    ...(operation.reason === 'spec' ? [] : [operation.reason]),
    ...(operation.isTemporary ? ['placeholder, for the time being'] : []),
  ]
  const why = told.length === 0 ? '' : ` (${told.join(', ')})`
  return [
    paint(colour, `${head}${why}`),
    ...operation.changes.map((change) => `     ${changeText(change)}`),
    ...operation.marks.map((mark) => paint(['bold', 'red'], `     ! ${withoutPlaceholders(mark.text)}`)),
  ]
}

/** The object of a request: its collection, and its id once it has one. */
export function objectText({ collection, id }: Pick<PlanOperation, 'collection' | 'id'>): string {
  const shown = withoutPlaceholders(id)
  return shown === KNOWN_AFTER_APPLY ? collection : `${collection}/${shown}`
}

export function resourceText({ resource: { kind, namespace, name } }: Pick<PlanOperation, 'resource'>): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

/** A field with its old and new value, in one line. */
export function changeText(change: FieldChange): string {
  const path = withoutPlaceholders(change.path)
  if (change.isSecret) return `${path}: (secret, changed)`
  if (change.old === undefined) return `${path}: ${valueText(change.new)}`
  return `${path}: ${valueText(change.old)} → ${valueText(change.new)}`
}

/** A value in one line, without control characters; a long one is cut. */
function valueText(value: unknown): string {
  if (value === undefined) return '(none)'
  const text = printable(withoutPlaceholders(JSON.stringify(value)))
  const shown = text === JSON.stringify(KNOWN_AFTER_APPLY) ? KNOWN_AFTER_APPLY : text
  return shown.length > VALUE_LENGTH ? `${shown.slice(0, VALUE_LENGTH - 1).toWellFormed()}…` : shown
}

function unplannedText({ resource, reason, message }: Unplanned, paint: Paint): string {
  return `  ${paint('yellow', resourceText({ resource }))}: ${reason}: ${printable(message)}`
}

/** The plan in one sentence. */
export function summaryText({ operations, unplanned }: Pick<Plan, 'operations' | 'unplanned'>): string {
  if (operations.length === 0) {
    return unplanned.length === 0 ? 'Nothing to do: the account is as the manifests say.' : 'Nothing would be done.'
  }
  const count = (action: PlanOperation['action']): number => operations.filter((each) => each.action === action).length
  const marked = operations.filter(({ marks }) => marks.length > 0).length
  const counts = `${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete`
  return `Plan: ${counts}.${marked === 0 ? '' : ` Look at ${marked} of them first: they are marked with "!".`}`
}
