import type { FastifyInstance } from 'fastify'
import { bulkConnectForm, connectForm } from '../agents/fleet.ts'
import { type JsonSchema, list, members, nullable, TEXT, TEXT_MAP, TEXTS, WHOLE_NUMBER } from '../fields/json-schema.ts'
import { bodyOf, idOf, numberInQuery, route, textsInQuery } from '../http/route.ts'
import { NO_CONTENT, ok } from '../openapi/operation.ts'
import type { Admin } from './admin.ts'

const TUNNEL = members({
  id: nullable(TEXT),
  labels: nullable(TEXT_MAP),
  domain: nullable(TEXT),
  address: nullable(TEXT),
})

const AGENT: JsonSchema = members({
  id: TEXT,
  account: TEXT,
  state: { type: 'string', enum: ['online', 'restarting', 'stopped', 'refused'] },
  sessionId: nullable(TEXT),
  credentialId: TEXT,
  transport: TEXT,
  agentVersion: TEXT,
  ip: TEXT,
  os: TEXT,
  region: TEXT,
  metadata: TEXT,
  tunnels: list(TUNNEL),
  update: { type: 'string', enum: ['none', 'running', 'installed'] },
  warnings: TEXTS,
  refusal: nullable(TEXT),
})

/** Simulated agents: the caller that connects one plays the machine it runs on. */
export function agentRoutes(app: FastifyInstance, admin: Admin): void {
  route(app, '/agents', {
    GET: {
      summary: 'List simulated agents, newest first',
      query: { account: TEXT, limit: WHOLE_NUMBER, before_id: TEXT },
      success: ok(members({ agents: list(AGENT) })),
      handler: (request) => {
        const { account, before_id: beforeId } = textsInQuery(request, ['account', 'before_id'])
        return { agents: admin.agents({ account, beforeId, limit: numberInQuery(request, 'limit', 100) }) }
      },
    },
    POST: {
      summary: 'Connect a simulated agent',
      body: connectForm.schema,
      success: { status: 201, body: AGENT },
      refusals: [403, 404],
      handler: (request, reply) => reply.code(201).send(admin.connectAgent(bodyOf(request))),
    },
  })
  route(app, '/agents/bulk', {
    POST: {
      summary: 'Disconnect the oldest simulated agents and connect new ones',
      body: bulkConnectForm.schema,
      success: { status: 201, body: members({ sessions: TEXTS, disconnected: WHOLE_NUMBER }) },
      refusals: [403, 404],
      handler: (request, reply) => reply.code(201).send(admin.connectAgents(bodyOf(request))),
    },
  })
  route(app, '/agents/:id', {
    GET: { summary: 'Get a simulated agent', success: ok(AGENT), handler: (request) => admin.agent(idOf(request)) },
    DELETE: {
      summary: 'Disconnect a simulated agent',
      success: NO_CONTENT,
      handler: (request, reply) => {
        admin.disconnectAgent(idOf(request))
        return reply.code(204).send()
      },
    },
  })
}
