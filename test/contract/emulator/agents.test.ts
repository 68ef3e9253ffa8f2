import { describe, expect, it } from 'vitest'
import { beginRestart, beginUpdate, latestInMajor, updateProgress } from '../../../src/emulator/agents/agent-updates.ts'
import { type Agent, UNBORN } from '../../../src/emulator/agents/stored-agent.ts'

const AT = Date.UTC(2026, 0, 1)
const agent: Agent = {
  ...UNBORN,
  id: 'agt_1',
  created_at: '2026-01-01T00:00:00Z',
  credential_id: 'cr_1',
  transport: 'svc/v2',
  agent_version: '3.1.0',
  ip: '192.0.2.1',
  os: 'linux',
  region: 'us',
  metadata: '',
  bindings: [],
  available_versions: ['3.2.0'],
  update_checks: true,
  restart_seconds: 1,
  update_seconds: 5,
  tunnel_ids: [],
  warnings: [],
}

describe('an update', () => {
  it.each([
    [0, 'running'],
    [4_999, 'running'],
    [5_000, 'installed'],
  ])('of five seconds is after %d ms %s', (after, progress) => {
    expect(updateProgress(beginUpdate(agent, AT), AT + after)).toBe(progress)
  })

  it.each([
    [0, '3.1.0'],
    [9_999, '3.1.0'],
    [10_000, '3.2.0'],
    [86_400_000, '3.2.0'],
  ])('that the agent restarts after %d ms later makes it run %s', (after, version) => {
    const restarted = beginRestart(beginUpdate(agent, AT), AT + after)
    expect(restarted).toMatchObject({ agent_version: version, update_to: null, update_asked_at: null })
    expect(restarted.back_at).toBe(AT + after + 1_000)
  })
})

describe('the latest version of a major', () => {
  it.each([
    ['3.1.0', [], undefined],
    ['3.1.0', ['3.1.0', '3.0.9', '4.0.0', '2.9.9'], undefined],
    ['3.9.0', ['3.10.0', '3.9.1'], '3.10.0'],
    ['3.9.9', ['3.9.10'], '3.9.10'],
    ['3.9.0', ['30.0.0'], undefined],
    ['OpenSSH_10.0', ['10.1.0'], undefined],
  ])('after %s out of %j is %s', (current, versions, latest) => {
    expect(latestInMajor(current, versions)).toBe(latest)
  })
})
