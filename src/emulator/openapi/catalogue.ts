import type { FastifyInstance } from 'fastify'
import type { Operation } from './operation.ts'

/** An operation and its address. */
export interface Entry {
  /** In fastify's notation: `/ip_policies/:id`. */
  readonly url: string
  readonly method: string
  readonly operation: Operation
}

/** Every operation that a server registers from now on, in order, without the `HEAD` that accompanies each `GET`. */
export function catalogueOf(app: FastifyInstance): readonly Entry[] {
  const entries: Entry[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.operation === undefined || typeof method !== 'string' || method === 'HEAD') return
    entries.push({ url, method, operation: config.operation })
  })
  return entries
}
