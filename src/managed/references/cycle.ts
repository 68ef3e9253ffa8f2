import { type CustomResource, nameOf, nameText, shortName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { FoundReference } from '../descriptor/references.ts'
import type { ManagedContext } from '../run/context.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import { referredName } from './crossings.ts'
import { messageName } from './dependents.ts'
import { targetOf } from './targets.ts'

/** A CR that can only be created after itself would wait forever: report it at once, with the cycle. */
export function refuseCycle(context: ManagedContext, cr: CustomResource, found: readonly FoundReference[]): void {
  const own = found.filter(({ kind, ref }) => kind === cr.kind && ref.name !== undefined)
  const trail: string[] = []
  const seen = new Set<string>()
  const visit = (from: CustomResource, reference: FoundReference): boolean => {
    const name = nameText(referredName(from, reference))
    if (name === nameText(nameOf(cr))) return true
    if (seen.has(name)) return false
    seen.add(name)
    const next = targetOf(context, from, reference)
    const onward = next === undefined ? [] : (context.kinds.managedKind(cr.kind)?.references.of(next.spec) ?? [])
    const closed = onward.some((each) => {
      return each.kind === cr.kind && each.ref.name !== undefined && next !== undefined && visit(next, each)
    })
    if (closed && next !== undefined) trail.unshift(messageName(next, cr.metadata.namespace))
    return closed
  }
  for (const reference of own) {
    if (!visit(cr, reference)) continue
    const self = shortName(nameOf(cr))
    const way = [self, ...trail, self].join(' → ')
    const message = `${reference.path}: references form a cycle (${way}): remove one of them`
    throw new TerminalError(reasons.ReferenceCycle, message)
  }
}
