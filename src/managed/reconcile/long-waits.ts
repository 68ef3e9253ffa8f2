import { KubeError } from '../../kube/kube-error.ts'
import type { Logger } from '../../util/logger.ts'
import { hasNoConditions, LONG_WAIT_MS, shortName } from '../cr.ts'
import { accountOf } from '../references/account-choice.ts'
import type { Reconciliation } from '../run/reconciliation.ts'

/** The cause of a wait: no free worker, or the API during the resource's own reconcile. */
export type WaitsFor = 'its turn' | 'the API'

/**
 * Reports in the conditions what the CR waits for. A failure loses nothing: the end of the reconcile reports more.
 * Never throws.
 */
export async function reportWait(run: Reconciliation, waitsFor: WaitsFor): Promise<void> {
  const { logger } = run.context
  const { kind, metadata } = run.cr
  const fields = { kind, namespace: metadata.namespace, name: metadata.name }
  try {
    await run.tell(messageOf(run, waitsFor))
  } catch (error) {
    logUnreported(logger, fields, error)
  }
}

/** A refusal by Kubernetes is reported later; any other error is a bug. */
export function logUnreported(logger: Logger, fields: object, error: unknown): void {
  if (error instanceof KubeError) logger.debug({ ...fields, err: error }, 'a wait could not be reported')
  else logger.error({ ...fields, err: error }, 'failed to report a wait')
}

/**
 * Reports a reconcile that takes long, such as one whose requests wait in the rate budget.
 * @returns a function that stops this; it resolves once no report is being written.
 */
export function reportLongWait(run: Reconciliation): () => Promise<void> {
  if (!hasNoConditions(run.cr)) return () => Promise.resolve()
  let telling: Promise<void> | undefined
  const cancel = run.context.clock.setTimer(LONG_WAIT_MS, () => {
    telling = reportWait(run, 'the API')
  })
  return async () => {
    cancel()
    await telling
  }
}

/** Whether the CR has had no condition for so long that even a silent wait should be reported. */
export function isLongUnreported({ context: { clock }, cr, memory }: Reconciliation): boolean {
  if (!hasNoConditions(cr)) return false
  memory.unreportedSince ??= clock.monotonic()
  return clock.monotonic() - memory.unreportedSince >= LONG_WAIT_MS
}

/** The message stays the same for the whole wait, so that it is written once. */
function messageOf({ context, cr }: Reconciliation, waitsFor: WaitsFor): string {
  const message = waitsFor === 'its turn' ? 'waits until other resources have been reconciled' : 'waits for the API'
  const account = accountOf(context, cr)
  const isPaced = account !== undefined && context.resources.isPaced(account, cr.metadata.namespace ?? '')
  return isPaced ? `${message}; spec.rateLimit of ${shortName(account)} limits the rate` : message
}
