import { type FieldChange, KNOWN_AFTER_APPLY } from '../../managed/approval/field-changes.ts'
import { cut } from '../../util/cut.ts'
import { jsonText, nameText } from '../../util/printable.ts'
import type { Line } from '../terminal/line.ts'
import { wrap } from '../terminal/wrap.ts'
import { withoutPlaceholders } from './answers.ts'
import type { Plan, Unplanned } from './make-plan.ts'
import type { PlanOperation } from './operations.ts'
import { changeLine, headLines, linesBelow, type Paper } from './request-lines.ts'
import type { UnnamedModules } from './unnamed-modules.ts'

/** Longest value that is shown whole, in characters. */
const VALUE_LENGTH = 160

/** The plan as text, line by line. */
export function planText({ operations, unplanned, unnamed }: Plan, paper: Paper): readonly Line[] {
  const bold = (text: string): Line => ({ text, style: 'bold' })
  return [
    ...operations.flatMap((operation, index) => operationText(operation, index + 1, paper)),
    ...(unplanned.length === 0 ? [] : [bold('Not carried out, or not yet:')]),
    ...unplanned.flatMap((each) => unplannedText(each, paper)),
    ...(unnamed.length === 0 ? [] : wrap(`! ${UNNAMED}:`, paper.width).map(bold)),
    ...unnamed.flatMap((each) => linesBelow(unnamedText(each), paper)),
    ...wrap(summaryText({ operations, unplanned, unnamed }), paper.width).map(bold),
  ]
}

function operationText(operation: PlanOperation, number: number, paper: Paper): readonly Line[] {
  const { action, changes, marks, reason, isTemporary } = operation
  const told = [...(reason === 'spec' ? [] : [reason]), ...(isTemporary ? ['placeholder, for the time being'] : [])]
  const why = told.length === 0 ? '' : ` (${told.join(', ')})`
  const warnings = marks.flatMap((mark) => linesBelow(`! ${withoutPlaceholders(mark.text)}`, paper))
  return [
    ...headLines(number, action, `${objectText(operation)} for ${resourceText(operation)}${why}`, paper),
    ...changes.flatMap((change) => linesBelow(changeText(change), paper)),
    ...warnings.map((text): Line => ({ text, style: ['bold', 'red'] })),
  ]
}

/** The object of a request: its collection, and its id once it has one. */
export function objectText({ collection, id }: Pick<PlanOperation, 'collection' | 'id'>): string {
  const shown = withoutPlaceholders(id)
  return shown === KNOWN_AFTER_APPLY ? collection : `${collection}/${nameText(shown)}`
}

export function resourceText({ resource: { kind, namespace, name } }: Pick<PlanOperation, 'resource'>): string {
  return `${kind} ${namespace === undefined ? '' : `${nameText(namespace)}/`}${nameText(name)}`
}

/** A field with its old and new value, in one line. */
export function changeText({ path, old, new: next, isSecret }: FieldChange): string {
  return changeLine({ field: withoutPlaceholders(path), from: valueText(old), to: valueText(next), isSecret })
}

/** A value in one line; a long one is cut. */
function valueText(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const text = withoutPlaceholders(jsonText(value))
  if (text.length > VALUE_LENGTH) return `${cut(text, VALUE_LENGTH)} (${text.length} characters, --output json has all)`
  return text === JSON.stringify(KNOWN_AFTER_APPLY) ? KNOWN_AFTER_APPLY : text
}

function unplannedText({ resource, reason, message }: Unplanned, { width }: Paper): readonly Line[] {
  const name = resourceText({ resource })
  const [first = '', ...rest] = wrap(`${name}: ${reason}: ${message}`, width - 2, '  ')
  const isWhole = first.startsWith(name)
  const head: Line = isWhole ? ['  ', { text: name, style: 'yellow' }, first.slice(name.length)] : `  ${first}`
  return [head, ...rest.map((line) => `  ${line}`)]
}

/** What a plan without a cluster says about modules that a live object has and its spec does not name. */
export const UNNAMED =
  'Not named in the manifests: removed if an earlier version named them, else left alone. With --kubeconfig the plan says which'

export function unnamedText({ resource, id, modules }: UnnamedModules): string {
  return `${resourceText({ resource })} (${nameText(id)}): ${modules.join(', ')}`
}

/** The plan in one sentence. */
export function summaryText({
  operations,
  unplanned,
  unnamed,
}: Pick<Plan, 'operations' | 'unplanned' | 'unnamed'>): string {
  if (operations.length === 0 && unnamed.length > 0 && unplanned.length === 0) {
    return 'Nothing else to do. Look first at the modules that are not named: they are marked with "!".'
  }
  if (operations.length === 0) {
    return unplanned.length === 0 ? 'Nothing to do: the account is as the manifests say.' : 'Nothing would be done.'
  }
  const count = (action: PlanOperation['action']): number => operations.filter((each) => each.action === action).length
  const marked = operations.filter(({ marks }) => marks.length > 0).length
  const counts = `${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete`
  return `Plan: ${counts}.${marked === 0 ? '' : ` Look at ${marked} of them first: they are marked with "!".`}`
}
