import { type Reader, reader } from '../fields/field.ts'
import { invalid, RequestError } from '../values/request-error.ts'
import { type Agent, SSH } from './stored-agent.ts'

/** How long a caller must wait after an update before it restarts the agent (`management-api.md § Limits`). */
const UPDATE_TO_RESTART_MS = 10_000

/** Progress of the update that an agent was told to install. */
export type UpdateProgress = 'none' | 'running' | 'installed'

export function updateProgress(agent: Agent, now: number): UpdateProgress {
  if (agent.update_asked_at === null) return 'none'
  return now < agent.update_asked_at + agent.update_seconds * 1000 ? 'running' : 'installed'
}

/**
 * The agent after it was told to update itself, or one of the four refusals (`management-api.md § Endpoints`, Tunnel
 * sessions, rule 4).
 */
export function beginUpdate(agent: Agent, now: number): Agent {
  const at = { id: String(agent.session_id) }
  if (!agent.update_checks) {
    throw new RequestError('updateChecksDisabled', 'the configuration of the agent disables update checks', at)
  }
  const progress = updateProgress(agent, now)
  if (progress === 'running') throw new RequestError('updateRunning', 'the agent is already updating itself', at)
  if (progress === 'installed') {
    throw new RequestError('updateInstalled', `the agent has updated itself to ${agent.update_to}; restart it`, at)
  }
  // An SSH client is not one of the service's agents, whatever versions there are.
  const latest = agent.transport === SSH ? undefined : latestInMajor(agent.agent_version, agent.available_versions)
  if (latest === undefined) {
    throw new RequestError('noUpdate', `there is no update for version ${agent.agent_version}`, at)
  }
  return { ...agent, update_to: latest, update_asked_at: now }
}

/**
 * The agent after it was told to restart. It runs the new version only if the update is complete and was requested long
 * enough ago; otherwise the update is lost (`api-decisions.md § Behaviour`).
 */
export function beginRestart(agent: Agent, now: number): Agent {
  if (!canRestart(agent)) {
    throw new RequestError('restartUnsupported', `an agent on ${agent.os} cannot restart itself`, {
      id: String(agent.session_id),
    })
  }
  const waited = agent.update_asked_at !== null && now >= agent.update_asked_at + UPDATE_TO_RESTART_MS
  const updated = waited && updateProgress(agent, now) === 'installed'
  return {
    ...agent,
    agent_version: updated && agent.update_to !== null ? agent.update_to : agent.agent_version,
    update_to: null,
    update_asked_at: null,
    state: 'restarting',
    back_at: now + agent.restart_seconds * 1000,
  }
}

/** Windows cannot replace a process (rule 1), and the gateway does not control the process of an SSH client. */
function canRestart({ os, transport }: Agent): boolean {
  return transport !== SSH && !/^windows\b/i.test(os)
}

const FORM = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/

/** A version that an agent can be updated to: `3.9.1`. */
export const release: Reader<string> = reader({ type: 'string', pattern: FORM.source }, (value, at) => {
  if (typeof value !== 'string' || !FORM.test(value)) throw invalid(at, 'must be a version of the form 3.9.1')
  return value
})

/**
 * The version that an agent updates to: the latest available one of its major version; undefined when none is newer
 * (`management-api.md § Endpoints`, Tunnel sessions, rule 3). An agent whose version has another form has no update.
 */
export function latestInMajor(current: string, versions: readonly string[]): string | undefined {
  const major = FORM.exec(current)?.[1]
  const newer = versions.filter((version) => FORM.exec(version)?.[1] === major && compare(version, current) > 0)
  return newer.toSorted(compare).at(-1)
}

function compare(left: string, right: string): number {
  const [one, other] = [left.split('.').map(Number), right.split('.').map(Number)]
  const at = one.findIndex((part, index) => part !== other[index])
  return (one[at] ?? 0) - (other[at] ?? 0)
}
