import type { PendingPlan } from '../../managed/descriptor/pending-plan.ts'
import { counted } from '../../util/counted.ts'
import { type Action, changeLine, headLines, linesBelow, type Paper } from '../plan/request-lines.ts'
import type { Line } from '../terminal/line.ts'

type Operation = PendingPlan['operations'][number]

/** A plan that waits for approval, line by line. */
export function pendingPlanLines({ operations, moreOperations = 0 }: PendingPlan, paper: Paper): readonly Line[] {
  return [
    ...operations.flatMap((operation, index) => operationLines(operation, index + 1, paper)),
    ...(moreOperations === 0 ? [] : [`and ${counted(moreOperations, 'more request')}`]),
  ]
}

const ACTIONS = { Create: 'create', Update: 'update', Delete: 'delete' } as const satisfies Record<
  Operation['action'],
  Action
>

function operationLines(
  { action, object, changes = [], moreChanges = 0 }: Operation,
  number: number,
  paper: Paper,
): readonly Line[] {
  return [
    ...headLines(number, ACTIONS[action], object, paper),
    ...changes.flatMap(({ secret: isSecret = false, ...change }) =>
      linesBelow(changeLine({ ...change, isSecret }), paper),
    ),
    ...(moreChanges === 0 ? [] : linesBelow(`and ${counted(moreChanges, 'more field')}`, paper)),
  ]
}
