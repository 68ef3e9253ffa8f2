import type { ActiveFault } from '../admin/faults.ts'
import type { JournalEntry } from '../admin/journal.ts'
import type { Caller } from '../objects/write-context.ts'

/** What is known about one request to the API while it is being answered. */
export interface Exchange {
  readonly entry: JournalEntry
  /** The fault that this request meets, if any. */
  readonly fault: ActiveFault | undefined
  /** Set once the key is known to be valid. */
  caller: Caller | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange | undefined
  }
}
