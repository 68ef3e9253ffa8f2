import { KubeError } from '../../kube/kube-error.ts'
import type { Reason } from '../descriptor/reasons.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import { kubeReason } from '../run/result.ts'

/** Why a reconcile did not get to its end. */
export type Failed =
  /** Something has to happen first. */
  | { readonly type: 'waiting'; readonly reason: Reason; readonly message: string }
  /** Lasts until a person changes something. */
  | { readonly type: 'stalled'; readonly reason: Reason; readonly message: string }

/** Until what lasts is tried again. What mends it wakes its owner; this is only the fallback. */
export const LASTING_MS = 600_000

/** What a failure says in the conditions; undefined for one that is not worth a write. */
export function saidOf(error: unknown): Failed | undefined {
  if (error instanceof WaitError) return { type: 'waiting', reason: error.code, message: error.message }
  if (error instanceof TerminalError) return { type: 'stalled', reason: error.code, message: error.message }
  if (!(error instanceof KubeError) || error.code === 'NotLeader' || error.code === 'Aborted') return undefined
  return { type: error.isRefusedWrite ? 'stalled' : 'waiting', reason: kubeReason(error), message: error.message }
}
