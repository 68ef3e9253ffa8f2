import { KubeError } from '../../kube/errors.ts'
import type { Logger } from '../../util/logger.ts'
import { accountOf } from '../accounts/account-choice.ts'
import { isUntold, shortName } from '../cr.ts'
import type { Reconciliation } from './reconciliation.ts'

/** From how long on people should hear that a new resource waits, in milliseconds. */
export const LONG_WAIT_MS = 30_000

/** What a resource waits for: workers that are busy with others, or in a reconcile of its own. */
export type WaitsFor = 'its turn' | 'the API'

/** Says in the conditions what the CR waits for. Where that fails nothing is lost: the end of the reconcile says more. Never throws. */
export async function tellWait(run: Reconciliation, waitsFor: WaitsFor): Promise<void> {
  const { logger } = run.context
  const { kind, metadata } = run.cr
  const fields = { kind, namespace: metadata.namespace, name: metadata.name }
  try {
    await run.tell(messageOf(run, waitsFor))
  } catch (error) {
    logUntold(logger, fields, error)
  }
}

/** What Kubernetes refuses is said later; all else is a bug. */
export function logUntold(logger: Logger, fields: object, error: unknown): void {
  if (error instanceof KubeError) logger.debug({ ...fields, err: error }, 'a wait was not told')
  else logger.error({ ...fields, err: error }, 'telling of a wait failed')
}

/**
 * Tells of a reconcile that takes long, such as one whose requests wait for their turn in the rate budget.
 * @returns ends that; resolves once nothing is being told any more.
 */
export function tellWhenLong(run: Reconciliation): () => Promise<void> {
  if (!isUntold(run.cr)) return () => Promise.resolve()
  let telling: Promise<void> | undefined
  const cancel = run.context.clock.setTimer(LONG_WAIT_MS, () => {
    telling = tellWait(run, 'the API')
  })
  return async () => {
    cancel()
    await telling
  }
}

/** Whether nothing has been said of a CR for so long that people should hear of what is over in a moment as a rule. */
export function isLongUntold({ context: { clock }, cr, memory }: Reconciliation): boolean {
  if (!isUntold(cr)) return false
  memory.untoldSince ??= clock.monotonic()
  return clock.monotonic() - memory.untoldSince >= LONG_WAIT_MS
}

/** True as long as the wait takes, so that it is written once. */
function messageOf({ context, cr }: Reconciliation, waitsFor: WaitsFor): string {
  const message = waitsFor === 'its turn' ? 'waits for its turn behind other resources' : 'waits for the API'
  const account = accountOf(context, cr)
  const isPaced = account !== undefined && context.resources.isPaced(account, cr.metadata.namespace ?? '')
  return isPaced ? `${message}; spec.rateLimit of ${shortName(account)} sets the pace` : message
}
