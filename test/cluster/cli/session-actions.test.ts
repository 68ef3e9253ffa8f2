import { describe, expect, test } from 'vitest'
import { culvert } from '../support/culvert.ts'
import { inTerminal } from '../support/terminal.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'

type Agent = Readonly<Record<string, unknown>>

/** A world that shows the sessions of these agents, and how `culvert sessions` runs there. */
async function openWorld(agents: readonly Agent[]) {
  const world = await World.open({ account: { mirrorSessions: { enabled: true, interval: '1s' } } })
  const { body } = await world.api.post('/credentials', {})
  const connected = agents.map((agent) => world.emulator.admin.connectAgent({ token: String(body.token), ...agent }))
  const sessions = await until(
    'all sessions are shown',
    async () => {
      const shown = await world.list('TunnelSession')
      return shown.length === agents.length && shown.every(({ status }) => status?.id !== undefined) ? shown : undefined
    },
    { timeoutMs: 60_000 },
  )
  const named = (index: number): string => {
    const id = connected[index]?.sessionId
    return sessions.find(({ status }) => status?.id === id)?.metadata.name ?? ''
  }
  const run = (...args: readonly string[]) => culvert(['sessions', ...args, '-n', world.namespace], world)
  const online = (index: number): boolean => {
    return world.emulator.admin.agent(String(connected[index]?.id)).sessionId === connected[index]?.sessionId
  }
  return { world, connected, named, run, online }
}

describe('culvert sessions', () => {
  test('stop --wait ends the named session only, and shows what came of it', { tags: 'nightly' }, async () => {
    const { world, named, run, online } = await openWorld([{ os: 'linux' }, { os: 'linux' }])
    await using _ = world
    const ambiguous = await run('stop', 'ts-', '--yes')
    expect(ambiguous.code).toBe(1)
    expect(ambiguous.stderr).toContain('the names of 2 sessions begin with "ts-": use a longer prefix')
    const { code, stdout, stderr } = await run('stop', `${named(0).slice(0, 20)}…`, '--yes', '--wait')
    expect(code, `${stdout}${stderr}`).toBe(0)
    expect(stdout).toMatch(/asked 1 agent to stop/)
    expect(stdout).toMatch(new RegExp(`${named(0).slice(0, 11)}\\S* +Stop +Done`))
    expect([online(0), online(1)]).toEqual([false, true])
    const [command] = await world.list('TunnelSessionCommand')
    expect(command?.spec).toMatchObject({ action: 'Stop', ttlAfterFinished: '1h' })
  })

  test('restart takes an id as well, and update with a selector leaves the others alone', {
    tags: 'nightly',
  }, async () => {
    const newer = { availableVersions: ['3.9.1'], restartSeconds: 1 }
    const { world, connected, run, online } = await openWorld([
      { os: 'linux', metadata: 'a', ...newer },
      { os: 'windows', metadata: 'b' },
      { os: 'linux', metadata: 'c', ...newer },
    ])
    await using _ = world
    const updated = await run('update', '-l', 'culvert.dev/os in (linux)', '--yes', '--wait', '--ttl', '10m')
    expect(updated.code, `${updated.stdout}${updated.stderr}`).toBe(0)
    expect(updated.stdout.match(/ Update +Done/g)).toHaveLength(2)
    const [command] = await world.list('TunnelSessionCommand')
    expect(command?.spec).toMatchObject({ ttlAfterFinished: '10m', accountRef: { kind: 'Account', name: 'default' } })
    const restarted = await run('restart', String(connected[1]?.sessionId), '--yes', '--wait')
    expect(restarted.code, restarted.stderr).toBe(1)
    expect(restarted.stdout).toMatch(/ Restart +Refused/)
    expect(restarted.stdout).toContain('has failed. To see why:')
    expect([online(0), online(1), online(2)]).toEqual([true, true, true])
  })

  test('asks first: nothing is created without a yes, nor where nobody can be asked', async () => {
    const { world, named, run } = await openWorld([{ os: 'linux' }])
    await using _ = world
    const piped = await run('stop', named(0))
    expect(piped.code).toBe(1)
    expect(piped.stderr).toContain('add --yes')
    const args = ['sessions', 'stop', named(0), '-n', world.namespace]
    const typing = { after: '[y/N]', keys: 'n\n' }
    const { code, lines } = await inTerminal(args, { columns: 100, env: { KUBECONFIG: world.kubeconfig }, typing })
    expect(code).toBe(1)
    expect(lines.join(' ')).toContain('Stop 1 agent? [y/N]')
    expect(lines.at(-1)).toBe('No agent was contacted.')
    expect(await world.list('TunnelSessionCommand')).toEqual([])
  })

  test('refuses what is no session, and says what is right', { tags: 'nightly' }, async () => {
    await using world = await World.open({ account: { mirrorSessions: { enabled: true } } })
    const cases: readonly (readonly [args: readonly string[], message: RegExp])[] = [
      [[], /specify either names of sessions or labels/],
      [['ts-1', '-l', 'a=b'], /specify either names of sessions or labels/],
      [['ts-1'], /no session "ts-1" is online/],
      [['-l', 'a>b'], /"a>b" in the selector "a>b" is not a requirement/],
      [['-l', 'a=b'], /No session is online/],
    ]
    for (const [args, message] of cases) {
      const { code, stderr } = await culvert(['sessions', 'stop', ...args, '-n', world.namespace, '--yes'], world)
      expect(code, args.join(' ')).toBe(1)
      expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(message)
    }
    expect(await world.list('TunnelSessionCommand')).toEqual([])
  })
})
