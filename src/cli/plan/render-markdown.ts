import { printable } from '../../util/printable.ts'
import { withoutPlaceholders } from './answers.ts'
import type { Plan } from './make-plan.ts'
import { changeText, objectText, resourceText, summaryText, UNNAMED, unnamedText } from './render-text.ts'

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
    ...(unplanned.length === 0 ? [] : ['', 'Not executed, or not yet:', '']),
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
