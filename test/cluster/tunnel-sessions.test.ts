import { expect, inject, test } from 'vitest'
import type { FaultAct } from '../../src/emulator/faults/fault-spec.ts'
import { mirrorName } from '../../src/managed/sessions/mirrored.ts'
import { CrdCluster } from '../builders/crd-cluster.ts'
import { KubeProxy, type ProxyAct } from '../builders/kube-proxy.ts'
import './provided.ts'
import { AuditLog } from './support/audit-log.ts'
import { until } from './support/wait.ts'
import { conditionOf, type Resource, World, type WorldOptions } from './support/world.ts'

const INTERVAL = '1s'
const MIRRORED = { account: { mirrorSessions: { enabled: true, interval: INTERVAL } } }

/** A world whose Account shows its sessions, and the token of a credential that agents may use. */
async function openWorld(options: WorldOptions = {}): Promise<{ world: World; token: string }> {
  const world = await World.open({ ...MIRRORED, ...options })
  const { body } = await world.api.post('/credentials', {})
  return { world, token: String(body.token) }
}

/** Waits until exactly these sessions are mirrored, their status included; returns them by id. */
async function shown(world: World, ids: readonly string[]): Promise<ReadonlyMap<string, Resource>> {
  const wanted = [...ids].sort()
  const look = async (): Promise<ReadonlyMap<string, Resource> | undefined> => {
    const all = await world.list('TunnelSession')
    const found = all.map(({ status }) => String(status?.id)).sort()
    return found.join() === wanted.join() ? new Map(all.map((each) => [String(each.status?.id), each])) : undefined
  }
  const describe = async () => ({ all: await world.list('TunnelSession'), log: world.operator.log.slice(-3000) })
  return await until(`${ids.length} sessions are shown`, look, { timeoutMs: 60_000, describe })
}

/** Waits until the command is over. */
async function over(world: World, name: string): Promise<Resource> {
  const met = (cr: Resource): boolean => ['Complete', 'Failed'].some((type) => conditionOf(cr, type)?.status === 'True')
  return await world.until('TunnelSessionCommand', name, 'is over', met, 60_000)
}

interface Action {
  readonly action: string
  readonly state: string
  readonly code?: string
  readonly message?: string
}

function targetsIn(cr: Resource) {
  return (cr.status?.targets ?? []) as readonly { id: string; newID?: string; actions: readonly Action[] }[]
}

/** Commands that the API was sent, as `restart ts_1`. */
function commandsSent(world: World): readonly string[] {
  return world
    .writes()
    .map(({ path }) => /^\/tunnel_sessions\/([^/]+)\/(\w+)$/.exec(path))
    .flatMap((match) => (match === null ? [] : [`${match[2]} ${match[1]}`]))
}

test('online sessions show every field of the contract, and edits and deletions by hand are reverted', async () => {
  const { world, token } = await openWorld()
  await using _ = world
  const agent = { token, os: 'windows server', region: 'eu', ip: '198.51.100.7', metadata: 'machine 1' }
  const id = String(world.emulator.admin.connectAgent(agent).sessionId)
  const [[, first]] = [...(await shown(world, [id]))] as [[string, Resource]]
  const { body } = await world.api.get(`/tunnel_sessions/${id}`)
  const credential = body.credential as { id: string; uri: string }
  expect(first.metadata.name).toBe(mirrorName('ts-', id))
  expect(first.status).toEqual({
    accountRef: { kind: 'Account', name: 'default' },
    id,
    uri: body.uri,
    agentVersion: '3.9.0',
    credential,
    ip: '198.51.100.7',
    metadata: 'machine 1',
    os: 'windows server',
    region: 'eu',
    startedAt: body.started_at,
    transport: 'svc/v2',
  })
  const labels = {
    'culvert.dev/os': 'windows-server',
    'culvert.dev/region': 'eu',
    'culvert.dev/transport': 'svc-v2',
    'culvert.dev/credential': credential.id,
  }
  expect(first.metadata.labels).toEqual(labels)
  const account = await world.get('Account', 'default')
  expect(first.metadata.ownerReferences).toMatchObject([{ kind: 'Account', uid: account?.metadata.uid }])

  const { name } = first.metadata
  await world.apply('TunnelSession', name, {}, { labels: { 'culvert.dev/os': 'mine', team: 'edge' } })
  const met = (cr: Resource): boolean => cr.metadata.labels?.['culvert.dev/os'] === 'windows-server'
  const repaired = await world.until('TunnelSession', name, 'is put back', met)
  expect(repaired.metadata.labels).toEqual({ ...labels, team: 'edge' })
  await world.delete('TunnelSession', name)
  const back = (cr: Resource): boolean => cr.metadata.uid !== first.metadata.uid && cr.status?.id === id
  await world.until('TunnelSession', name, 'is made again', back)
  expect(world.writes().filter(({ path }) => path.startsWith('/tunnel_sessions'))).toEqual([])
})

test('an ended session disappears, a restarted agent shows under its new id, and disabled mirroring removes all', async () => {
  const { world, token } = await openWorld()
  await using _ = world
  const { admin } = world.emulator
  const agents = [1, 2, 3].map((number) => admin.connectAgent({ token, metadata: `${number}`, restartSeconds: 1 }))
  await shown(
    world,
    agents.map(({ sessionId }) => String(sessionId)),
  )
  admin.disconnectAgent(String(agents[0]?.id))
  await world.apply('TunnelSessionCommand', 'again', {
    action: 'Restart',
    target: { type: 'ID', id: agents[1]?.sessionId },
  })
  const target = { type: 'Session', sessionRef: { name: mirrorName('ts-', String(agents[2]?.sessionId)) } }
  await world.apply('TunnelSessionCommand', 'enough', { action: 'Stop', target })
  await over(world, 'enough')
  const restarted = (cr: Resource): boolean => targetsIn(cr)[0]?.newID !== undefined
  const again = await world.until('TunnelSessionCommand', 'again', 'is found again', restarted)
  const { sessionId } = admin.agent(String(agents[1]?.id))
  expect(targetsIn(again)[0]?.newID).toBe(sessionId)
  await shown(world, [String(sessionId)])
  await world.kube.mergePatch(
    { group: 'culvert.dev', version: 'v1alpha1', plural: 'accounts', kind: 'Account', namespaced: true },
    { namespace: world.namespace, name: 'default' },
    { spec: { mirrorSessions: { enabled: false } } },
  )
  await shown(world, [])
})

const SESSIONS = 300
const PAGE = 100

test('three hundred sessions cost two writes each, and replacing a tenth of them costs that tenth and pages', {
  tags: 'nightly',
  timeout: 180_000,
}, async () => {
  const { world, token } = await openWorld({ operator: false })
  await using _ = world
  const { admin } = world.emulator
  const agent = { token, metadata: 'machine {n}' }
  const { sessions } = admin.connectAgents({ agent, count: SESSIONS })
  const audit = AuditLog.ofSuite()
  const start = await audit.mark()
  const writes = async (mark: number): Promise<readonly string[]> => {
    const all = await audit.operatorWrites([world.namespace], mark)
    return all.filter(({ resource }) => resource === 'tunnelsessions').map(({ verb }) => verb)
  }
  const count = (verbs: readonly string[]) =>
    Object.fromEntries([...Map.groupBy(verbs, (verb) => verb)].map(([verb, each]) => [verb, each.length]))
  await world.startOperator()
  await shown(world, sessions)
  expect(count(await writes(start))).toEqual({ create: SESSIONS, patch: SESSIONS })

  const tenth = SESSIONS / 10
  const before = await audit.mark()
  const replaced = admin.connectAgents({ agent, count: tenth, disconnect: tenth }).sessions
  await shown(world, [...sessions.slice(tenth), ...replaced])
  expect(count(await writes(before))).toEqual({ create: tenth, patch: tenth, delete: tenth })

  const [mark, after] = [world.mark(), await audit.mark()]
  const lists = () => world.journal(mark).filter(({ path }) => path === '/tunnel_sessions')
  await until('more lists were made', () => lists().filter(({ query }) => query === '').length >= 4, {
    timeoutMs: 60_000,
  })
  const last = lists().findLast(({ query }) => query === '')?.seq ?? 0
  const whole = lists().filter(({ seq }) => seq < last)
  expect(whole.length).toBe(whole.filter(({ query }) => query === '').length * Math.ceil(SESSIONS / PAGE))
  expect(await writes(after)).toEqual([])
})

test('each of the four failures of an update is reported by its own reason', { tags: 'nightly' }, async () => {
  const { world, token } = await openWorld()
  await using _ = world
  const { admin } = world.emulator
  const newer = { availableVersions: ['3.9.1'] }
  const connect = (fields: Record<string, unknown>): string => {
    return String(admin.connectAgent({ token, ...(fields as object) }).sessionId)
  }
  const ids = {
    current: connect({ availableVersions: ['4.0.0'] }),
    disabled: connect({ ...newer, updateChecks: false }),
    updating: connect({ ...newer, updateSeconds: 3600 }),
    updated: connect({ ...newer, updateSeconds: 0 }),
  }
  for (const id of [ids.updating, ids.updated]) {
    expect((await world.api.post(`/tunnel_sessions/${id}/update`, {})).status).toBe(204)
  }
  await shown(world, Object.values(ids))
  await world.apply('TunnelSessionCommand', 'update', {
    action: 'UpdateAndRestart',
    target: { type: 'Selector', selector: {} },
  })
  const command = await over(world, 'update')
  expect(conditionOf(command, 'Failed')).toMatchObject({ status: 'True', reason: 'SomeNotDone' })
  const byID = new Map(targetsIn(command).map(({ id, actions }) => [id, actions]))
  const words = { current: 'no update', disabled: 'disables', updating: 'already updating', updated: 'has updated' }
  const codes = Object.entries(words).map(([which, said]) => {
    const [update, restart] = byID.get(ids[which as keyof typeof ids]) ?? []
    expect([update?.state, restart?.state]).toEqual(['Refused', 'Skipped'])
    expect(update?.message).toContain(said)
    return update?.code
  })
  expect(new Set(codes).size).toBe(4)
  expect(codes).not.toContain(undefined)
})

test('a session that cannot be restarted is reported, a gone one is Gone, and applying again repeats nothing', {
  tags: 'nightly',
}, async () => {
  const { world, token } = await openWorld()
  await using _ = world
  const { admin } = world.emulator
  const windows = String(admin.connectAgent({ token, os: 'windows' }).sessionId)
  const spec = { action: 'Restart', target: { type: 'ID', id: windows } }
  await world.apply('TunnelSessionCommand', 'windows', spec)
  await world.apply('TunnelSessionCommand', 'gone', { action: 'Stop', target: { type: 'ID', id: 'ts_none' } })
  const refused = targetsIn(await over(world, 'windows'))[0]?.actions[0]
  expect(refused).toMatchObject({ state: 'Refused', message: expect.stringContaining('cannot restart') })
  expect(targetsIn(await over(world, 'gone'))[0]?.actions[0]).toMatchObject({ state: 'Gone' })
  const sent = commandsSent(world)
  expect(sent.toSorted()).toEqual([`restart ${windows}`, 'stop ts_none'].toSorted())
  await world.apply('TunnelSessionCommand', 'windows', spec, { labels: { applied: 'again' } })
  await world.operator.kill()
  await world.startOperator()
  const handled = () => world.operator.metric('controller_runtime_reconcile_total', 'controller="TunnelSessionCommand"')
  await until('both commands were looked at again', async () => (await handled()) >= 2)
  expect(commandsSent(world)).toEqual(sent)
})

test('an agent that is updated and restarted runs the new version: the restart comes ten seconds later', {
  tags: 'nightly',
}, async () => {
  const { world, token } = await openWorld()
  await using _ = world
  const { admin } = world.emulator
  const { id, sessionId } = admin.connectAgent({ token, availableVersions: ['3.9.1', '4.0.0'], restartSeconds: 1 })
  await shown(world, [String(sessionId)])
  const target = { type: 'Selector', selector: { matchLabels: { 'culvert.dev/os': 'linux' } } }
  await world.apply('TunnelSessionCommand', 'update', { action: 'UpdateAndRestart', target })
  await over(world, 'update')
  const [update = 0, restart = 0] = world
    .writes()
    .filter(({ path }) => path.startsWith('/tunnel_sessions/'))
    .map(({ time }) => Date.parse(time))
  expect(restart - update).toBeGreaterThanOrEqual(10_000)
  const back = await until('the agent is back', () => {
    const agent = admin.agent(id)
    return agent.state === 'online' && agent
  })
  expect(back.agentVersion).toBe('3.9.1')
  const found = (cr: Resource): boolean => targetsIn(cr)[0]?.newID === back.sessionId
  await world.until('TunnelSessionCommand', 'update', 'is found again', found)
})

test('kubectl wait sees each outcome of a command, and a changed time to live applies', {
  tags: 'nightly',
  timeout: 120_000,
}, async () => {
  const { world, token } = await openWorld()
  await using _ = world
  await using cluster = await CrdCluster.open(inject('kubectlPath'), inject('kubeconfigPath'))
  const command = (name: string) => ['-n', world.namespace, `tunnelsessioncommands.culvert.dev/${name}`]
  const wait = (name: string, condition: string) =>
    cluster.succeed(['wait', `--for=${condition}`, '--timeout=60s', ...command(name)])
  const keep = async (name: string, ttlAfterFinished: string | null): Promise<void> => {
    const patch = JSON.stringify({ spec: { ttlAfterFinished } })
    await cluster.succeed(['patch', ...command(name), '--type=merge', '-p', patch])
  }
  const id = String(world.emulator.admin.connectAgent({ token }).sessionId)
  await world.apply('TunnelSessionCommand', 'done', { action: 'Stop', target: { type: 'ID', id } })
  await world.apply('TunnelSessionCommand', 'gone', { action: 'Stop', target: { type: 'ID', id: 'ts_none' } })
  await wait('done', 'condition=Complete')
  await wait('gone', 'condition=Failed')
  expect(conditionOf(await world.get('TunnelSessionCommand', 'done'), 'Failed')?.status).toBe('False')
  expect(conditionOf(await world.get('TunnelSessionCommand', 'gone'), 'Complete')?.status).toBe('False')
  // kubectl takes no condition of a generation before the edit.
  await keep('done', '24h')
  await keep('gone', '24h')
  await wait('done', 'condition=Complete')
  await wait('gone', 'condition=Failed')
  await wait('gone', 'jsonpath={.status.finishedAt}')
  await keep('gone', null)
  await keep('done', '1s')
  await world.gone('TunnelSessionCommand', 'done')
  await wait('gone', 'condition=Failed')
  expect(commandsSent(world).toSorted()).toEqual([`stop ${id}`, 'stop ts_none'].toSorted())
})

/** Where the operator is killed: at the n-th write of the command's status, or the n-th request to the API. */
type Stop =
  | { readonly at: 'status'; readonly number: number; readonly act: ProxyAct }
  | { readonly at: 'request'; readonly number: number; readonly act: FaultAct }

const WHEN = ['before', 'after'] as const
const STOPS: readonly Stop[] = [
  ...[1, 2, 3, 4].flatMap((number) =>
    WHEN.map((when) => ({ at: 'status', number, act: { type: 'hold', when } }) as const),
  ),
  ...[1, 2].flatMap((number) => WHEN.map((when) => ({ at: 'request', number, act: { type: 'hang', when } }) as const)),
]

test('killed at each write and request of a command, the operator sends none of them twice', {
  timeout: 300_000,
  tags: 'nightly',
}, async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  const { world, token } = await openWorld({ flags: ['--kubeconfig', proxy.kubeconfigPath] })
  await using _ = world
  const { admin } = world.emulator
  for (const [index, stop] of STOPS.entries()) {
    const name = `stop-${index}`
    const region = `r${index}`
    const ids = [1, 2].map((number) => String(admin.connectAgent({ token, region, metadata: `${number}` }).sessionId))
    await until('both are shown', async () => {
      const all = await world.list('TunnelSession')
      return ids.every((id) => all.some(({ status }) => status?.id === id))
    })
    const [first = '', second = ''] = ids.toSorted((left, right) => (left < right ? -1 : 1))
    const path = `/apis/culvert.dev/v1alpha1/namespaces/${world.namespace}/tunnelsessioncommands/${name}/status`
    let seen = 0
    const isHit = (passing: string): boolean => passing === path && ++seen === stop.number
    const held = proxy.intercept((request) => (stop.at === 'status' && isHit(request.path) ? stop.act : undefined))
    const commandPath = `/tunnel_sessions/${stop.number === 1 ? first : second}/stop`
    const fault =
      stop.at === 'request'
        ? admin.addFault({ match: { method: 'POST', path: commandPath }, act: stop.act })
        : undefined
    const target = { type: 'Selector', selector: { matchLabels: { 'culvert.dev/region': region } } }
    await world.apply('TunnelSessionCommand', name, { action: 'Stop', target })
    if (stop.at === 'status') await held.hits(1)
    else
      await until('the request hangs', () =>
        world.journal().some((entry) => entry.path === commandPath && entry.fault === fault?.id),
      )
    await world.operator.kill()
    held.remove()
    if (fault !== undefined) admin.deleteFault(fault.id)
    await world.startOperator()
    const command = await over(world, name)
    const sent = commandsSent(world).filter((each) => ids.some((id) => each.endsWith(id)))
    expect(new Set(sent).size, JSON.stringify({ stop, sent })).toBe(sent.length)
    const states = targetsIn(command).map(({ actions }) => actions[0]?.state)
    expect(states.filter((state) => state === 'Unknown').length, JSON.stringify({ stop, states })).toBeLessThanOrEqual(
      1,
    )
    expect(
      states.every((state) => state === 'Done' || state === 'Unknown'),
      JSON.stringify(states),
    ).toBe(true)
  }
})
