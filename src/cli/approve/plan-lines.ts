import type { PendingPlan } from '../../managed/descriptor/pending-plan.ts'
import { counted } from '../../util/counted.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Operation = PendingPlan['operations'][number]
type Change = NonNullable<Operation['changes']>[number]

const SIGNS = {
  Create: ['+', 'green'],
  Update: ['~', 'yellow'],
  Delete: ['-', 'red'],
} as const satisfies Record<Operation['action'], readonly [string, string]>

/** A plan that waits for approval, line by line. */
export function pendingPlanLines(
  { operations, moreOperations = 0 }: PendingPlan,
  { styled }: Pick<Terminal, 'styled'>,
): readonly string[] {
  return [
    ...operations.flatMap(({ action, object, changes = [], moreChanges = 0 }, index) => {
      const [sign, colour] = SIGNS[action]
      return [
        styled(colour, `${index + 1}. ${sign} ${action.toLowerCase()} ${object}`),
        ...changes.map((change) => `     ${changeLine(change)}`),
        ...(moreChanges === 0 ? [] : [`     and ${counted(moreChanges, 'more field')}`]),
      ]
    }),
    ...(moreOperations === 0 ? [] : [`and ${counted(moreOperations, 'more request')}`]),
  ]
}

function changeLine({ field, from, to, secret = false }: Change): string {
  if (secret) return `${field}: (secret, changed)`
  if (from === undefined) return `${field}: ${to ?? '(none)'}`
  return `${field}: ${from} → ${to ?? '(none)'}`
}
