import { type FieldChange, KNOWN_AFTER_APPLY } from '../../managed/approval/field-changes.ts'
import { cut, jsonText, nameText, printable } from '../../util/printable.ts'
import { type Line, wrap } from '../terminal/line.ts'
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
function objectText({ collection, id }: Pick<PlanOperation, 'collection' | 'id'>): string {
  const shown = withoutPlaceholders(id)
  return shown === KNOWN_AFTER_APPLY ? collection : `${collection}/${nameText(shown)}`
}

function resourceText({ resource: { kind, namespace, name } }: Pick<PlanOperation, 'resource'>): string {
  return `${kind} ${namespace === undefined ? '' : `${nameText(namespace)}/`}${nameText(name)}`
}

/** A field with its old and new value, in one line. */
function changeText({ path, old, new: next, isSecret }: FieldChange): string {
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
const UNNAMED =
  'Not named in the manifests: removed if an earlier version named them, else left alone. With --kubeconfig the plan says which'

function unnamedText({ resource, id, modules }: UnnamedModules): string {
  return `${resourceText({ resource })} (${nameText(id)}): ${modules.join(', ')}`
}

/** The plan in one sentence. */
function summaryText({ operations, unplanned, unnamed }: Pick<Plan, 'operations' | 'unplanned' | 'unnamed'>): string {
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

/** The plan as a comment on a pull request. */
export function planMarkdown(plan: Plan): string {
  const { operations, unplanned, unnamed } = plan
  const marked = operations.filter(({ marks }) => marks.length > 0)
  const lines = [
    `**${summaryText(plan)}**`,
    ...(marked.length === 0 ? [] : ['', '> [!WARNING]']),
    ...marked.flatMap((operation) =>
      operation.marks.map(({ text }) => `> - ${code(resourceText(operation))}: ${code(withoutPlaceholders(text))}`),
    ),
    ...(operations.length === 0 ? [] : ['', '| | request | for | changes |', '|---|---|---|---|']),
    ...operations.map(rowOf),
    ...(unplanned.length === 0 ? [] : ['', 'Not carried out, or not yet:', '']),
    ...unplanned.map((each) => `- ${code(resourceText(each))}: ${each.reason}: ${code(each.message)}`),
    ...(unnamed.length === 0 ? [] : ['', '> [!WARNING]', `> ${UNNAMED.replaceAll('--kubeconfig', '`--kubeconfig`')}:`]),
    ...unnamed.map((each) => `> - ${code(unnamedText(each))}`),
  ]
  return `${lines.join('\n')}\n`
}

function rowOf(operation: Plan['operations'][number], index: number): string {
  const changes = operation.changes.map((change) => code(changeText(change)))
  const action = `${operation.marks.length > 0 ? '⚠ ' : ''}${operation.action} ${code(objectText(operation))}`
  return `| ${index + 1} | ${action} | ${code(resourceText(operation))} | ${changes.join('<br>')} |`
}

/** Text of strangers as a code span: nothing in it is a link, a mention, HTML, or the end of a cell or of the span. */
function code(text: string): string {
  // A pipe ends a cell even in a code span, and what a backslash before it does depends on the program.
  const shown = printable(text).replaceAll('|', '\\u007c')
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  // Without spaces, a backtick at an end would belong to the fence.
  const gap = shown.startsWith('`') || shown.endsWith('`') ? ' ' : ''
  return shown === '' ? '' : `${fence}${gap}${shown}${gap}${fence}`
}

/** Raised when a field of the output changes its meaning or goes; new fields may come at any time. */
const FORMAT = 1

/** The plan for programs, as `docs/cli/plan.schema.json` describes it. */
export function planJson({ operations, unplanned, unnamed }: Plan): unknown {
  return {
    format: FORMAT,
    operations: operations.map(({ action, resource, collection, id, reason, isTemporary, changes, marks }) => {
      const known = withoutPlaceholders(id)
      return {
        action,
        resource,
        collection,
        ...(known === KNOWN_AFTER_APPLY ? {} : { id: known }),
        reason,
        ...(isTemporary ? { temporary: true } : {}),
        changes: changes.map(changeJson),
        marks: marks.map(({ type, text }) => ({ type, text: withoutPlaceholders(text) })),
      }
    }),
    unplanned: unplanned.map(({ resource, reason, message, isWaiting }) => ({ resource, reason, message, isWaiting })),
    unnamedModules: unnamed,
  }
}

function changeJson({ path, old, new: next, isSecret }: FieldChange): unknown {
  const shown = { path: withoutPlaceholders(path) }
  if (isSecret) return { ...shown, secret: true }
  return {
    ...shown,
    ...(old === undefined ? {} : { old: valueJson(old) }),
    ...(next === undefined ? {} : { new: valueJson(next) }),
  }
}

function valueJson(value: unknown): unknown {
  return JSON.parse(withoutPlaceholders(JSON.stringify(value)))
}
