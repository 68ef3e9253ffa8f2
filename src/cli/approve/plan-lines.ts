import type { PendingPlan } from '../../managed/descriptor/pending-plan.ts'
import { counted } from '../../util/counted.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { wrap } from '../terminal/wrap.ts'

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
  { styled, width }: Pick<Terminal, 'styled' | 'width'>,
): readonly string[] {
  return [
    ...operations.flatMap(({ action, object, changes = [], moreChanges = 0 }, index) => {
      const [sign, colour] = SIGNS[action]
      return [
        ...wrap(`${index + 1}. ${sign} ${action.toLowerCase()} ${object}`, width, BELOW).map((line) => {
          return styled(colour, line)
        }),
        ...changes.flatMap((change) => {
          return wrap(changeLine(change), width - BELOW.length, '  ').map((line) => `${BELOW}${line}`)
        }),
        ...(moreChanges === 0 ? [] : [`${BELOW}and ${counted(moreChanges, 'more field')}`]),
      ]
    }),
    ...(moreOperations === 0 ? [] : [`and ${counted(moreOperations, 'more request')}`]),
  ]
}

/** What belongs to an operation, below its head. */
const BELOW = ' '.repeat(5)

function changeLine({ field, from, to, secret = false }: Change): string {
  if (secret) return `${field}: (secret, changed)`
  if (from === undefined) return `${field}: ${to ?? '(none)'}`
  return `${field}: ${from} → ${to ?? '(none)'}`
}
