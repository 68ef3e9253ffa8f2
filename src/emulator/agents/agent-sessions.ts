import { save } from '../objects/operations.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/database.ts'
import { type JsonObject, rfc3339 } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'
import { admitAgent } from './admission.ts'
import { beginRestart, beginUpdate } from './agent-updates.ts'
import { type Agent, asAgent } from './stored-agent.ts'

/*
 * What happens to an agent, its session and its tunnels. All of it must run inside a transaction. The returned agent is
 * saved by `saveAgent`, or by the caller when the change fell due.
 */

/** Connects the agent at `at`, in emulated milliseconds: a session and its tunnels. Throws when it is not admitted. */
export function startSession(agent: Agent, at: number, context: WriteContext): Agent {
  const warnings = admitAgent(agent, context.account, context.services)
  const { credential_id, transport, agent_version, ip, os, region, metadata } = agent
  const shown = { credential_id, transport, agent_version, ip, os, region, metadata }
  const session_id = place('ts', { ...shown, agent_id: agent.id }, at, context)
  const tunnel_ids = agent.bindings.map((binding) => place('tn', { ...binding, session_id }, at, context))
  return { ...agent, state: 'online', session_id, tunnel_ids, back_at: null, warnings, refusal: null }
}

/** The agent without its session; unchanged if it has none. */
function endSession(agent: Agent, context: WriteContext): Agent {
  const gone = [...(agent.session_id === null ? [] : [agent.session_id]), ...agent.tunnel_ids]
  for (const id of gone) context.store.remove(context.account, context.services.resources.ofId(id).path, id)
  return { ...agent, session_id: null, tunnel_ids: [] }
}

/** Removes an agent with its session and tunnels, as when its connection breaks. */
export function dropAgent(agent: StoredObject, context: WriteContext): void {
  endSession(asAgent(agent), context)
  context.store.remove(context.account, 'agents', agent.id)
}

/**
 * Adds a tunnel to the session of an agent, which is admitted again: by its credential, the owner, the ACL and the
 * restrictions as they are now. Returns the agent and the tunnel's id. Throws when it is not admitted.
 */
export function addTunnel(
  agent: Agent,
  binding: JsonObject,
  at: number,
  context: WriteContext,
): { agent: Agent; tunnel: string } {
  admitAgent({ ...agent, bindings: [binding] }, context.account, context.services)
  const tunnel = place('tn', { ...binding, session_id: agent.session_id }, at, context)
  return {
    agent: { ...agent, bindings: [...agent.bindings, binding], tunnel_ids: [...agent.tunnel_ids, tunnel] },
    tunnel,
  }
}

/** The agent without one of its tunnels; unchanged if it has no such tunnel. */
export function removeTunnel(agent: Agent, tunnel: string, context: WriteContext): Agent {
  const index = agent.tunnel_ids.indexOf(tunnel)
  if (index < 0) return agent
  context.store.remove(context.account, context.services.resources.ofId(tunnel).path, tunnel)
  return {
    ...agent,
    bindings: agent.bindings.toSpliced(index, 1),
    tunnel_ids: agent.tunnel_ids.toSpliced(index, 1),
  }
}

/** The agent after its restart: online again with a new session id, or refused, after which it does not try again. */
export function comeBack(object: StoredObject, at: number, context: WriteContext): Agent {
  const agent = asAgent(object)
  try {
    return startSession(agent, at, context)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { ...agent, state: 'refused', back_at: null, refusal: error.message }
  }
}

/** The restart command (`management-api.md § Endpoints`, Tunnel sessions): the session ends before the answer. */
export function restartAgent(session: StoredObject, context: WriteContext): void {
  const agent = beginRestart(agentOf(session, context), context.now())
  saveAgent(endSession(agent, context), context)
}

/** The stop command: the agent exits. */
export function stopAgent(session: StoredObject, context: WriteContext): void {
  saveAgent(endSession({ ...agentOf(session, context), state: 'stopped' }, context), context)
}

/** The update command: the session does not change. */
export function updateAgent(session: StoredObject, context: WriteContext): void {
  saveAgent(beginUpdate(agentOf(session, context), context.now()), context)
}

export function saveAgent(agent: Agent, context: WriteContext): void {
  save(context.services.resources.ofId(agent.id), agent, context)
}

function agentOf(session: StoredObject, { store, account }: WriteContext): Agent {
  const agent = store.get(account, 'agents', String(session.agent_id))
  if (agent === undefined) throw new Error(`session ${session.id} belongs to no agent`)
  return asAgent(agent)
}

/** Stores a new object of the collection with that id prefix, and returns its id. */
function place(prefix: string, body: JsonObject, at: number, context: WriteContext): string {
  const id = context.services.ids.next(prefix)
  save(context.services.resources.ofId(id), { ...body, id, created_at: rfc3339(at) }, context)
  return id
}
