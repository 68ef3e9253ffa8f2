import type { Priority } from '../util/priority.ts'

/**
 * How one reconcile ended. The controller is the only place that turns it into a requeue.
 *
 * - `done`: nothing to do until something changes.
 * - `after`: reconcile again in `ms`, with `priority`.
 * - `backoff`: failed in a way that may pass; retried with a delay for this key that grows exponentially.
 * - `terminal`: refused permanently; retried only on change, or slowly, after `retryMs`, in case a quota was raised.
 */
export type Outcome =
  | { readonly type: 'done' }
  | { readonly type: 'after'; readonly ms: number; readonly reason: string; readonly priority?: Priority }
  | { readonly type: 'backoff'; readonly error: unknown }
  | { readonly type: 'terminal'; readonly error: unknown; readonly retryMs?: number }

export const done: Outcome = { type: 'done' }
