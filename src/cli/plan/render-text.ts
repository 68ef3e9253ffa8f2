import type { FieldChange } from '../../managed/plan/field-changes.ts'
import { cut } from '../../util/cut.ts'
import { printable } from '../../util/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { wrap } from '../terminal/wrap.ts'
import { KNOWN_AFTER_APPLY, withoutPlaceholders } from './answers.ts'
import type { Plan, Unplanned } from './make-plan.ts'
import type { PlanOperation } from './operations.ts'

/** Colours of a plan, and the length of its lines. */
export type Paper = Pick<Terminal, 'styled' | 'width'>

const SIGNS = { create: ['+', 'green'], update: ['~', 'yellow'], delete: ['-', 'red'] } as const

/** Longest value that is shown whole, in characters. */
const VALUE_LENGTH = 160

/** The plan as text, line by line. */
export function planText({ operations, unplanned }: Plan, paper: Paper): readonly string[] {
  const bold = (text: string): string => paper.styled('bold', text)
  return [
    ...operations.flatMap((operation, index) => operationText(operation, index + 1, paper)),
    ...(unplanned.length === 0 ? [] : [bold('Not carried out, or not yet:')]),
    ...unplanned.flatMap((each) => unplannedText(each, paper)),
    ...wrap(summaryText({ operations, unplanned }), paper.width).map(bold),
  ]
}

/** What belongs to an operation, below its head. */
const BELOW = ' '.repeat(5)

function operationText(operation: PlanOperation, number: number, { styled, width }: Paper): readonly string[] {
  const [sign, colour] = SIGNS[operation.action]
  const head = `${number}. ${sign} ${operation.action} ${objectText(operation)} for ${resourceText(operation)}`
  const told = [
    ...(operation.reason === 'spec' ? [] : [operation.reason]),
    ...(operation.isTemporary ? ['placeholder, for the time being'] : []),
  ]
  const why = told.length === 0 ? '' : ` (${told.join(', ')})`
  const below = (text: string): readonly string[] => wrap(text, width - BELOW.length, '  ').map((line) => BELOW + line)
  const marks = operation.marks.flatMap((mark) => below(`! ${withoutPlaceholders(mark.text)}`))
  return [
    ...wrap(`${head}${why}`, width, BELOW).map((line) => styled(colour, line)),
    ...operation.changes.flatMap((change) => below(changeText(change))),
    ...marks.map((line) => styled(['bold', 'red'], line)),
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
  return cut(shown, VALUE_LENGTH)
}

function unplannedText({ resource, reason, message }: Unplanned, { styled, width }: Paper): readonly string[] {
  const name = resourceText({ resource })
  const [first = '', ...rest] = wrap(`${name}: ${reason}: ${printable(message)}`, width - 2, '  ')
  const head = first.startsWith(name) ? `${styled('yellow', name)}${first.slice(name.length)}` : first
  return [head, ...rest].map((line) => `  ${line}`)
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
