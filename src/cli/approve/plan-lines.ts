import type { PendingPlan } from '../../managed/descriptor/pending-plan.ts'
import { counted } from '../../util/printable.ts'
import { type Action, changeLine, headLines, linesBelow, type Paper } from '../plan/request-lines.ts'
import { type Line, wrap } from '../terminal/line.ts'

type Operation = PendingPlan['operations'][number]

/** A plan that waits for approval, line by line. */
export function pendingPlanLines(plan: PendingPlan, paper: Paper): readonly Line[] {
  const warning = hiddenText(plan)
  const warnings = warning === undefined ? [] : wrap(`! ${warning}`, paper.width, '  ').map(inRed)
  // Said twice: a long plan leaves only its end on the screen.
  return [...warnings, ...plan.operations.flatMap((operation) => operationLines(operation, paper)), ...warnings]
}

/** What of a plan its status has no room for; undefined if it shows everything. */
export function hiddenText({ operations, moreOperations = 0 }: PendingPlan): string | undefined {
  const fields = operations.reduce((sum, { moreChanges = 0 }) => sum + moreChanges, 0)
  // JSON, ids and paths end with something else.
  const texts = operations.flatMap(({ object, changes = [] }) => [object, ...changes.flatMap(Object.values)])
  const values = texts.filter((text) => typeof text === 'string' && text.endsWith('…')).length
  const parts = [
    ...(moreOperations === 0 ? [] : [counted(moreOperations, 'request')]),
    ...(fields === 0 ? [] : [counted(fields, 'field')]),
    ...(values === 0 ? [] : [`the end of ${counted(values, 'value')}`]),
  ]
  return parts.length === 0 ? undefined : `This is not the whole plan. Not shown: ${parts.join(', ')}`
}

function inRed(text: string): Line {
  return { text, style: ['bold', 'red'] }
}

const ACTIONS = { Create: 'create', Update: 'update', Delete: 'delete' } as const satisfies Record<
  Operation['action'],
  Action
>

function operationLines(
  { step, action, object, changes = [], marks = [], moreChanges = 0 }: Operation,
  paper: Paper,
): readonly Line[] {
  return [
    ...headLines(step, ACTIONS[action], object, paper),
    ...changes.flatMap(({ secret: isSecret = false, ...change }) =>
      linesBelow(changeLine({ ...change, isSecret }), paper),
    ),
    ...(moreChanges === 0 ? [] : linesBelow(`and ${counted(moreChanges, 'more field')}`, paper)),
    ...marks.flatMap((mark) => linesBelow(`! ${mark}`, paper)).map(inRed),
  ]
}
