import type { Priority } from '../util/priority.ts'

/**
 * How one reconcile ended. The controller is the only place that turns it into a requeue.
 * - `done`: nothing to do until something changes.
 * - `after`: look again in `ms`; `priority` says how urgent that look is.
 * - `backoff`: failed in a way that may pass; retried with exponential delay for this key.
 * - `terminal`: refused for good; retried only on change, or slowly after `retryMs` so that a lifted quota heals.
 */
export type Outcome =
  | { readonly type: 'done' }
  | { readonly type: 'after'; readonly ms: number; readonly reason: string; readonly priority?: Priority }
  | { readonly type: 'backoff'; readonly error: unknown }
  | { readonly type: 'terminal'; readonly error: unknown; readonly retryMs?: number }

export const done: Outcome = { type: 'done' }
