import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import type { JsonSchema } from '../fields/json-schema.ts'

/** One method of one path: its handler, and what the OpenAPI document says of it. */
export interface Operation {
  readonly summary: string
  /** Query parameters that are read; others are ignored. */
  readonly query?: Readonly<Record<string, JsonSchema>>
  /** The JSON body it accepts; absent if none. */
  readonly body?: JsonSchema
  /** Status of a success, and its body, if any. */
  readonly success: { readonly status: 200 | 201 | 204; readonly body?: JsonSchema }
  /** Statuses of refusals besides those that every operation of its surface may answer. */
  readonly refusals?: readonly RefusalStatus[]
  readonly handler: RouteHandlerMethod
}

/** Statuses of refusals that not every operation has. */
export type RefusalStatus = 403 | 404 | 409

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Operations = Partial<Record<Method, Operation>>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent only for answers to methods that a path does not support. */
    operation?: Operation
  }
}

/** A success without a body. */
export const NO_CONTENT = { status: 204 } as const

/** A 200 answer with such a body. */
export function ok(body: JsonSchema): Operation['success'] {
  return { status: 200, body }
}

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
