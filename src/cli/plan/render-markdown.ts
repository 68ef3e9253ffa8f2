import { printable } from '../../util/printable.ts'
import { withoutPlaceholders } from './answers.ts'
import type { Plan } from './make-plan.ts'
import { changeText, objectText, resourceText, summaryText } from './render-text.ts'

/** The plan as a comment on a pull request. */
export function planMarkdown(plan: Plan): string {
  const { operations, unplanned } = plan
  const marked = operations.filter(({ marks }) => marks.length > 0)
  const lines = [
    `**${summaryText(plan)}**`,
    ...(marked.length === 0 ? [] : ['', '> [!WARNING]']),
    ...marked.flatMap((operation) =>
      operation.marks.map(({ text }) => `> - \`${resourceText(operation)}\`: ${escaped(withoutPlaceholders(text))}`),
    ),
    ...(operations.length === 0 ? [] : ['', '| | request | for | changes |', '|---|---|---|---|']),
    ...operations.map(rowOf),
    ...(unplanned.length === 0 ? [] : ['', 'Not carried out, or not yet:', '']),
    ...unplanned.map((each) => `- \`${resourceText(each)}\`: ${each.reason}: ${escaped(each.message)}`),
  ]
  return `${lines.join('\n')}\n`
}

function rowOf(operation: Plan['operations'][number], index: number): string {
  const changes = operation.changes.map(
    (change) => `\`${changeText(change).replaceAll('`', "'").replaceAll('|', '\\|')}\``,
  )
  const action = `${operation.marks.length > 0 ? '⚠ ' : ''}${operation.action} \`${objectText(operation)}\``
  return `| ${index + 1} | ${action} | \`${resourceText(operation)}\` | ${changes.join('<br>')} |`
}

/** Text that markdown shows as it is. */
function escaped(text: string): string {
  return printable(text).replace(/[\\`*_[\]<>|]/g, '\\$&')
}
