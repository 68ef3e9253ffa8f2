import { MAX_TARGETS } from '../../../src/managed/descriptor/command.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, type Resource, type World } from '../../cluster/support/world.ts'
import { type Scene, type Subject, saying } from '../scene.ts'

const COMMAND = 'TunnelSessionCommand'

/** Sessions of agents, and commands to them. */
export const sessions: Scene = {
  name: 'sessions',
  about:
    'Mirrored tunnel sessions, and commands that are done, partly done, of no use, or under way without an answer.',
  world: { account: { mirrorSessions: { enabled: true, interval: '2s' } } },
  async play({ world }) {
    const { admin } = world.emulator
    const { body } = await world.api.post('/credentials', {})
    const token = String(body.token)
    const many = await tooMany(world, token)
    const connect = (region: string, os = 'linux'): string =>
      String(admin.connectAgent({ token, region, os, metadata: `machine in ${region}`, restartSeconds: 1 }).sessionId)
    const [stopped, windows, slow] = [connect('eu'), connect('eu', 'windows'), connect('ap')]
    connect('us')
    const again = connect('au')
    await shown(world, 6)
    await world.apply(COMMAND, 'restarted', { action: 'Restart', target: { type: 'ID', id: again } })
    await world.apply(COMMAND, 'done', { action: 'Stop', target: { type: 'ID', id: stopped } })
    await world.apply(COMMAND, 'partly-failed', { action: 'Restart', target: { type: 'ID', id: windows } })
    await world.apply(COMMAND, 'nobody', {
      action: 'Stop',
      target: { type: 'Selector', selector: { matchLabels: { 'culvert.dev/region': 'sa' } } },
    })
    const told = [
      many,
      await saying(world, COMMAND, 'done', 'AllDone', 'Current'),
      await restarted(world),
      await saying(world, COMMAND, 'partly-failed', 'SomeNotDone', 'Failed'),
      await saying(world, COMMAND, 'nobody', 'NoTarget', 'Failed'),
    ]
    admin.addFault({
      match: { method: 'POST', path: `/tunnel_sessions/${slow}/stop`, every: true },
      act: { type: 'hang' },
    })
    await unknown(world, slow)
    told.push({ kind: COMMAND, name: 'unknown', state: 'SomeNotDone', phase: 'Failed' })
    return [...told, ...(await underWay(world, slow))]
  },
}

/** More sessions than the mirror shows. */
export const leftOut: Scene = {
  name: 'left-out',
  about: 'An Account with more sessions than it may show, and one for whose sessions its namespace has no place.',
  world: { account: { mirrorSessions: { enabled: true, interval: '2s', maxSessions: 1 } } },
  async play({ world }) {
    const { body } = await world.api.post('/credentials', {})
    for (const region of ['eu', 'us']) world.emulator.admin.connectAgent({ token: String(body.token), region })
    await shown(world, 1)
    await world.reason('Account', 'default', 'SessionsMirrored', 'TooManySessions')
    const apiKeySecretRef = { name: 'credentials' }
    const names = ['a', 'b', 'c', 'd'].map((letter) => `account-${letter}`)
    const mirrorSessions = { enabled: true, interval: '2s' }
    for (const name of names) {
      await world.apply('Account', name, { baseURL: world.emulator.url, apiKeySecretRef, mirrorSessions })
      await world.ready('Account', name)
    }
    // Of accounts created within one second, it may be any.
    const crowded = await until('one has no place', async () => {
      const all = await world.list('Account')
      return all.find((each) => conditionOf(each, 'SessionsMirrored')?.reason === 'TooManyMirrors')
    })
    return [
      { kind: 'Account', name: 'default', state: 'TooManySessions', phase: 'Current' },
      { kind: 'Account', name: crowded.metadata.name, state: 'TooManyMirrors', phase: 'Current' },
    ]
  },
}

/** The agent is back with another id, and the command reports it. */
async function restarted(world: World): Promise<Subject> {
  const met = ({ status }: Resource): boolean => {
    return ((status?.targets ?? []) as readonly { newID?: string }[]).some(({ newID }) => newID !== undefined)
  }
  await world.until(COMMAND, 'restarted', 'has found the agent again', met, 60_000)
  return { kind: COMMAND, name: 'restarted', state: 'AllDone', phase: 'Current' }
}

/** The answer to a command's only request was lost. */
async function unknown(world: World, id: string): Promise<void> {
  await world.apply(COMMAND, 'unknown', { action: 'Stop', target: { type: 'ID', id } })
  await saying(world, COMMAND, 'unknown', 'SomeNotDone', 'Failed')
}

async function underWay(world: World, id: string): Promise<readonly Subject[]> {
  const mark = world.mark()
  await world.apply(COMMAND, 'running', { action: 'Stop', target: { type: 'ID', id } })
  await until('the command has been sent', () => world.writes(mark).some(({ path }) => path.endsWith(`/${id}/stop`)))
  return [{ kind: COMMAND, name: 'running', state: 'CommandRunning', phase: 'InProgress', after: 'Failed' }]
}

/**
 * They are removed once the command has been refused because of them: two hundred of the same would show nothing more.
 */
async function tooMany(world: World, token: string): Promise<Subject> {
  const { admin } = world.emulator
  const agent = { token, region: 'many' }
  admin.connectAgents({ agent, count: MAX_TARGETS + 1 })
  await shown(world, MAX_TARGETS + 1)
  await world.apply(COMMAND, 'too-many', { action: 'Stop', target: { type: 'Selector', selector: {} } })
  const told = await saying(world, COMMAND, 'too-many', 'TooManyTargets', 'Failed')
  admin.connectAgents({ agent, count: 1, disconnect: MAX_TARGETS + 1 })
  await shown(world, 1)
  return told
}

async function shown(world: World, count: number): Promise<void> {
  await until('the sessions are shown', async () => (await world.list('TunnelSession')).length === count, {
    timeoutMs: 90_000,
  })
}
