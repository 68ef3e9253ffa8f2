/**
 * Urgency of queued work and of the API calls it makes: edits by people, then objects that are still to be made, then polls of running
 * jobs, then drift and retries. Thousands of new resources keep nobody waiting who changes one that is at work.
 */
export type Priority = 'edit' | 'create' | 'poll' | 'drift'

/** Most urgent first. */
export const PRIORITIES: readonly Priority[] = ['edit', 'create', 'poll', 'drift']
