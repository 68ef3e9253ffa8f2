import { isRefusal } from '../../api/errors.ts'
import type { RequestBody } from '../../api/types.ts'
import { generationOf } from '../cr.ts'
import { WaitError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { reasons } from '../status/reasons.ts'

/** The body of the create, or the other way to say the same once the API has refused the first for this spec. */
export function formToSend(run: Reconciliation, body: RequestBody): RequestBody {
  const { cr, descriptor, memory } = run
  if (memory.identity.refusedForm?.generation !== generationOf(cr)) return body
  return descriptor.fields.alternatives?.(body)[0] ?? body
}

/**
 * What follows from the failure of a create: if it was refused, it is sent once more, the other way, as an attempt of
 * its own. That is safe where the refusal came without a known error body, too: the attempt stays open, and lists must
 * show that it made nothing. If the second is refused too, the error is that of the first.
 * @throws WaitError before the other form is sent
 */
export function afterForm(run: Reconciliation, body: RequestBody, sent: RequestBody, error: unknown): unknown {
  const { cr, descriptor, memory } = run
  if (!isRefusal(error)) return error
  if (sent !== body) {
    const first = memory.identity.refusedForm?.error ?? error
    memory.identity.refusedForm = undefined
    return first
  }
  if ((descriptor.fields.alternatives?.(body) ?? []).length === 0) return error
  memory.identity.refusedForm = { generation: generationOf(cr), error }
  return new WaitError(reasons.Progressing, error.message, 0, true)
}
