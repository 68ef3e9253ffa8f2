import { asAgent } from '../agents/agent.ts'
import { comeBack } from '../agents/sessions.ts'
import { invalid } from '../errors.ts'
import { TEXT, TEXT_MAP } from '../fields/json-schema.ts'
import { isJsonObject } from '../json.ts'
import type { Resource } from './resource.ts'

/** Refuses a seed of objects that only a connected agent creates. */
export function refuseSeed(): never {
  throw invalid('objects', 'agents, their sessions and their tunnels come from POST /_emulator/agents')
}

/** Simulated agents. The API knows only their sessions and tunnels; the admin surface connects them. */
export const agents: Resource = {
  path: 'agents',
  listKey: 'agents',
  idPrefix: 'agt',
  eventName: null,
  served: false,
  fields: {},
  prepare: refuseSeed,
  shows: { metadata: TEXT },
  render: (agent) => ({ metadata: asAgent(agent).metadata }),
  dueAt: (agent) => asAgent(agent).back_at ?? undefined,
  onDue: comeBack,
}

/** Tunnels: the API only refers to them (`management-api.md § Gaps in the endpoint set`). They fire no events. */
export const tunnels: Resource = {
  path: 'tunnels',
  listKey: 'tunnels',
  idPrefix: 'tn',
  eventName: null,
  served: false,
  fields: {},
  prepare: refuseSeed,
  labels: ({ labels }) => (isJsonObject(labels) ? labels : {}),
  shows: { labels: TEXT_MAP },
  render: ({ labels = {} }) => ({ labels }),
}
