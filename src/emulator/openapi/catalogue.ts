import type { FastifyInstance } from 'fastify'
import type { Operation } from './operation.ts'

/** An operation and where it is reached. */
export interface Entry {
  /** As fastify has it: `/ip_policies/:id`. */
  readonly url: string
  readonly method: string
  readonly operation: Operation
}

/** Every operation that a server registers from now on, in order; `HEAD`, which goes with each `GET`, aside. */
export function catalogueOf(app: FastifyInstance): readonly Entry[] {
  const entries: Entry[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.operation === undefined || typeof method !== 'string' || method === 'HEAD') return
    entries.push({ url, method, operation: config.operation })
  })
  return entries
}
