/**
 * Priority of queued work and of the API calls it makes: edits by people, then objects still to be created, then polls
 * of running jobs, then drift and retries. A person who edits an existing resource does not wait for thousands of new
 * ones.
 */
export type Priority = 'edit' | 'create' | 'poll' | 'drift'

/** Most urgent first. */
export const PRIORITIES: readonly Priority[] = ['edit', 'create', 'poll', 'drift']
