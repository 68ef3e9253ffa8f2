import type { RouteHandlerMethod } from 'fastify'
import type { JsonSchema } from '../fields/json-schema.ts'

/** One method of one path: what does it, and what the OpenAPI document says of it. */
export interface Operation {
  readonly summary: string
  /** Query parameters that are read; others are ignored. */
  readonly query?: Readonly<Record<string, JsonSchema>>
  /** The JSON body it takes; none when absent. */
  readonly body?: JsonSchema
  /** Status of the success; its body, where there is one. */
  readonly success: { readonly status: 200 | 201 | 204; readonly body?: JsonSchema }
  /** Statuses of refusals beside those that every operation of its surface may answer. */
  readonly refusals?: readonly RefusalStatus[]
  readonly handler: RouteHandlerMethod
}

/** Statuses of refusals that not every operation has. */
export type RefusalStatus = 403 | 404 | 409

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Operations = Partial<Record<Method, Operation>>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Present on everything but the answers to methods that a path does not have. */
    operation?: Operation
  }
}

/** A success without a body. */
export const NO_CONTENT = { status: 204 } as const

/** Answers 200 with such a body. */
export function ok(body: JsonSchema): Operation['success'] {
  return { status: 200, body }
}
