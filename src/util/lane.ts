/** Urgency of queued work and of the API calls it makes: edits by people, then polls of running jobs, then drift and retries. */
export type Lane = 'edit' | 'poll' | 'drift'

/** Most urgent first. */
export const LANES: readonly Lane[] = ['edit', 'poll', 'drift']
