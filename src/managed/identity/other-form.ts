import { isRefusal } from '../../api/errors.ts'
import type { RequestBody } from '../../api/types.ts'
import { generationOf } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { IdentityMemory } from './identity-memory.ts'

/** The body of the create, or the next other way to say the same once the API has refused some for this spec. */
export function formToSend(run: Reconciliation, body: RequestBody): RequestBody {
  return formsOf(run, body)[refusedOf(run)?.count ?? 0] ?? body
}

/**
 * What follows from the failure of a create: if it was refused, it is sent once more, another way, as an attempt of its
 * own. That is safe where the refusal came without a known error body, too: the attempt stays open, and lists must show
 * that it made nothing. If every form is refused, the error is that of the first.
 * @throws WaitError before another form is sent
 */
export function afterForm(run: Reconciliation, body: RequestBody, error: unknown): unknown {
  const { cr, memory } = run
  if (!isRefusal(error)) return error
  const { error: first = error, count = 0 } = refusedOf(run) ?? {}
  memory.of(IdentityMemory).refusedForms = undefined
  if (count + 1 >= formsOf(run, body).length) return first
  memory.of(IdentityMemory).refusedForms = { generation: generationOf(cr), error: first, count: count + 1 }
  return new WaitError(reasons.Progressing, first.message, 0, true)
}

/** What the API has refused for this spec. */
function refusedOf({ cr, memory }: Reconciliation) {
  const { refusedForms } = memory.of(IdentityMemory)
  return refusedForms?.generation === generationOf(cr) ? refusedForms : undefined
}

function formsOf({ descriptor }: Reconciliation, body: RequestBody): readonly RequestBody[] {
  return [body, ...(descriptor.fields.alternatives?.(body) ?? [])]
}
