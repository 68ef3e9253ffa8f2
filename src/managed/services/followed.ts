import { cut } from '../../util/printable.ts'
import type { CustomResource } from '../cr.ts'
import { type ConditionText, SERVICE_FOLLOWED } from '../descriptor/readiness.ts'
import { conditionReasons, type Reason } from '../descriptor/reasons.ts'
import { SERVICE_PROBLEM } from '../names.ts'
import { serviceOwning } from './service.ts'

/** The longest message of a condition. */
const LONGEST = 4096

interface Problem {
  readonly reason: Reason
  readonly message: string
}

/**
 * What is noted on the Edges of a Service that cannot be followed. Only the reconciler of an Edge writes its status, so
 * that the Service leaves it a note.
 */
export function noteFor({ reason, message }: Problem): string {
  return `${reason}: ${cut(message, LONGEST)}`
}

/**
 * `conditions` of a resource, with one for what its Service has noted. A note that was copied from elsewhere is none.
 */
export function withService(conditions: readonly ConditionText[], cr: CustomResource): readonly ConditionText[] {
  const others = conditions.filter(({ type }) => type !== SERVICE_FOLLOWED.type)
  const note = serviceOwning(cr) === undefined ? undefined : cr.metadata.annotations?.[SERVICE_PROBLEM]
  const problem = note === undefined ? undefined : parsed(note)
  return problem === undefined ? others : [...others, { type: SERVICE_FOLLOWED.type, status: 'False', ...problem }]
}

function parsed(note: string): Problem | undefined {
  const [, reason = '', message = ''] = /^(\w+): (.*)$/s.exec(note) ?? []
  return Object.hasOwn(conditionReasons, reason) ? { reason: reason as Reason, message } : undefined
}
