import type { FastifyInstance } from 'fastify'
import { bearerToken } from '../http/authenticate.ts'
import { route } from '../http/route.ts'
import { ok } from '../openapi/operation.ts'
import { sameSecret } from '../store/tokens.ts'
import type { JsonObject } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'
import type { Admin } from './admin.ts'
import { agentRoutes } from './agent-routes.ts'
import { faultRoutes } from './fault-routes.ts'
import { recordRoutes, trafficRoutes } from './record-routes.ts'
import { stateRoutes, worldRoutes } from './world-routes.ts'

/** A snapshot holds everything, so it may be larger than a request to the API. */
const ADMIN_BODY_LIMIT = 512 * 1024 * 1024

export interface AdminSurfaceOptions {
  readonly admin: Admin
  readonly token: string
  /** Whether callers on other machines are served. */
  readonly remote: boolean
  /** The OpenAPI document of everything that is served. */
  readonly document: () => JsonObject
}

/** The admin surface over HTTP; see `Admin` for what each operation means. */
export function adminPlugin(options: AdminSurfaceOptions): (app: FastifyInstance) => Promise<void> {
  const { admin, token, remote, document } = options
  return async (app) => {
    app.addHook('onRoute', (registered) => {
      registered.bodyLimit = ADMIN_BODY_LIMIT
    })
    app.addHook('onRequest', async (request) => {
      if (!remote && !isLoopback(request.raw.socket.remoteAddress)) {
        throw new RequestError('unknownRoute', 'there is no such path')
      }
      const given = bearerToken(request.headers)
      if (given === undefined || !sameSecret(given, token)) {
        throw new RequestError('unauthenticated', 'the admin surface needs its own bearer token')
      }
    })
    app.setNotFoundHandler((request) => {
      throw new RequestError('unknownRoute', `there is no path ${request.method} ${request.url}`)
    })
    recordRoutes(app, admin)
    stateRoutes(app, admin)
    faultRoutes(app, admin)
    worldRoutes(app, admin)
    agentRoutes(app, admin)
    trafficRoutes(app, admin)
    route(app, '/openapi.json', {
      GET: { summary: 'This document', success: ok({ type: 'object' }), handler: document },
    })
  }
}

/** Whether a socket's remote address is loopback, including its IPv4-mapped forms. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)
}
