import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Agents } from '../builders/contract/agents.ts'
import { ApiClient, expectRefusal, type Resource, refTo } from '../builders/contract/api-client.ts'
import { Documentation, DocumentedClient } from '../builders/contract/openapi.ts'
import { createMinimal } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { stated } from './facts/rules/all.ts'
import { tunnelSessions } from './facts/tunnel-sessions.ts'

let world: World
let agents: Agents
beforeAll(async () => {
  world = await startWorld()
  agents = new Agents(world)
})
beforeEach(async () => {
  for (const { id } of await agents.all()) await agents.disconnect(id)
})
afterAll(() => world.close())

const statedCommand = (name: string): string => {
  const command = tunnelSessions.commands.find(({ path }) => path === name)
  if (command === undefined) throw new Error(`the contract has no command ${name}`)
  return `${name}: ${command.statement}`
}

const done = async (session: string, command: string): Promise<void> => {
  const answer = await agents.command(session, command)
  expect([answer.status, answer.text], command).toEqual([204, ''])
}

/** Fields that a restart must not change. */
const lasting = ({ id: _id, uri: _uri, started_at: _since, agent_version: _version, ...rest }: Resource): unknown =>
  rest

const codeOf = async (session: string, command: string): Promise<string> =>
  expectRefusal(await agents.command(session, command), 409, session).error_code

test('a session has every field of the contract, in its list as by its id', async () => {
  const credential = await world.api.create('credentials', {})
  const told = { metadata: '{"rack": 7}', region: 'eu', os: 'darwin' }
  const before = await world.admin.now()
  const agent = await agents.connect({ token: credential.token, ...told, ip: '192.0.2.7', agentVersion: '3.1.4' })
  const session = await world.api.get('tunnel_sessions', agent.sessionId)
  expect(new Set(Object.keys(session))).toEqual(new Set(tunnelSessions.fields.map(({ name }) => name)))
  expect(session).toEqual({
    id: expect.stringMatching(new RegExp(`^${tunnelSessions.idPrefix}\\w{27}$`)),
    uri: `${world.url}/tunnel_sessions/${session.id}`,
    agent_version: '3.1.4',
    credential: refTo(credential),
    ip: '192.0.2.7',
    ...told,
    started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    transport: 'svc/v2',
  })
  expect(Date.parse(String(session.started_at))).toBeGreaterThanOrEqual(Math.floor(before / 1000) * 1000)
  const list = await world.api.object(200, 'GET', '/tunnel_sessions')
  expect(list).toEqual({
    [tunnelSessions.listKey]: [session],
    uri: `${world.url}/tunnel_sessions`,
    next_page_uri: null,
  })
})

test(stated('sessions.online-only'), async () => {
  const first = (await agents.connect()).sessionId
  const leaving = await agents.connect()
  const [third, fourth] = [(await agents.connect()).sessionId, (await agents.connect()).sessionId]
  const page = await world.api.object(200, 'GET', '/tunnel_sessions?limit=3')
  expect((page.tunnel_sessions as Resource[]).map(({ id }) => id)).toEqual([fourth, third, leaving.sessionId])
  const rest = await world.api.object(200, 'GET', String(page.next_page_uri))
  expect((rest.tunnel_sessions as Resource[]).map(({ id }) => id)).toEqual([first])
  expect(rest.next_page_uri).toBeNull()
  expectRefusal(await world.api.call('GET', '/tunnel_sessions?limit=101'), 400, 'limit')

  await agents.disconnect(leaving.id)
  await done(third, 'stop')
  expect((await agents.sessions()).map(({ id }) => id)).toEqual([fourth, first])
  expectRefusal(await world.api.call('GET', `/tunnel_sessions?before_id=${third}`), 400, 'before_id')
})

test(stated('sessions.read-only'), async () => {
  const { sessionId } = await agents.connect()
  for (const [method, path, allow] of [
    ['POST', '/tunnel_sessions', 'GET'],
    ['PATCH', `/tunnel_sessions/${sessionId}`, 'GET'],
    ['DELETE', `/tunnel_sessions/${sessionId}`, 'GET'],
    ['GET', `/tunnel_sessions/${sessionId}/stop`, 'POST'],
  ] as const) {
    const answer = await world.api.call(method, path, method === 'GET' ? {} : { body: {} })
    expectRefusal(answer, 405)
    expect(answer.headers.get('allow')).toBe(allow)
  }
  await world.api.get('tunnel_sessions', sessionId)
})

test(stated('sessions.own-account'), async () => {
  const { sessionId } = await agents.connect()
  const stranger = new ApiClient(world.url, await world.admin.seedAccount('stranger'))
  expect(await stranger.all('/tunnel_sessions', 'tunnel_sessions')).toEqual([])
  expectRefusal(await stranger.call('GET', `/tunnel_sessions/${sessionId}`), 404, sessionId)
  expectRefusal(await stranger.call('POST', `/tunnel_sessions/${sessionId}/stop`, { body: {} }), 404, sessionId)
  await world.api.get('tunnel_sessions', sessionId)
})

describe.each(tunnelSessions.commands)('$path', ({ path }) => {
  test(stated('sessions.gone'), async () => {
    const [stopped, restarted] = [await agents.connect(), await agents.connect()]
    await done(stopped.sessionId, 'stop')
    await done(restarted.sessionId, 'restart')
    for (const id of [stopped.sessionId, restarted.sessionId, 'ts_none']) {
      expectRefusal(await agents.command(id, path), 404, id)
      // The id in the path is validated before the body.
      expectRefusal(await agents.command(id, path, { colour: 'blue' }), 404, id)
    }
  })

  test(stated('sessions.command-body'), async () => {
    const { sessionId } = await agents.connect({ availableVersions: ['3.10.0'] })
    expectRefusal(await agents.command(sessionId, path, { colour: 'blue' }), 400, 'colour')
    expectRefusal(await agents.command(sessionId, path, []), 400)
    expectRefusal(await world.api.call('POST', `/tunnel_sessions/${sessionId}/${path}`), 400)
    // Refused requests have no effect.
    await done(sessionId, path)
  })
})

test(statedCommand('restart'), async () => {
  const agent = await agents.connect({ metadata: 'kept', region: 'ap', ip: '192.0.2.9', restartSeconds: 60 })
  const before = await world.api.get('tunnel_sessions', agent.sessionId)
  await done(agent.sessionId, 'restart')
  expectRefusal(await world.api.call('GET', `/tunnel_sessions/${agent.sessionId}`), 404)
  expect(await agents.sessions()).toEqual([])
  expect(await agents.get(agent.id)).toMatchObject({ state: 'restarting', sessionId: null })
  await world.admin.advance(60)
  const [after] = await agents.sessions()
  expect(lasting(after as Resource)).toEqual(lasting(before))
  expect(Date.parse(String(after?.started_at)) - Date.parse(String(before.started_at))).toBeGreaterThanOrEqual(60_000)
  expect(await agents.get(agent.id)).toMatchObject({ state: 'online', sessionId: after?.id })
})

test(stated('sessions.restart-new-id'), async () => {
  const agent = await agents.connect({ restartSeconds: 0 })
  const seen = [agent.sessionId]
  for (let round = 0; round < 3; round += 1) {
    await done(String(seen.at(-1)), 'restart')
    seen.push(String((await agents.sessionOf(agent)).id))
  }
  expect(new Set(seen).size).toBe(4)
  expect((await agents.sessions()).map(({ id }) => id)).toEqual(seen.slice(-1))
})

test(stated('sessions.restart-windows'), async () => {
  const codes = new Set<string>()
  for (const os of ['windows', 'Windows', 'Windows 11']) {
    const { sessionId } = await agents.connect({ os, agentVersion: '3.0.0', availableVersions: ['3.1.0'] })
    codes.add(await codeOf(sessionId, 'restart'))
    // It had no effect, and the other commands work.
    await world.api.get('tunnel_sessions', sessionId)
    await done(sessionId, 'update')
    await done(sessionId, 'stop')
  }
  expect(codes.size).toBe(1)
  await done((await agents.connect({ os: 'linux' })).sessionId, 'restart')
})

test(statedCommand('stop'), async () => {
  const [agent, other] = [await agents.connect(), await agents.connect()]
  await done(agent.sessionId, 'stop')
  expectRefusal(await world.api.call('GET', `/tunnel_sessions/${agent.sessionId}`), 404, agent.sessionId)
  expect((await agents.sessions()).map(({ id }) => id)).toEqual([other.sessionId])
  await world.admin.advance(86_400)
  expect((await agents.sessions()).map(({ id }) => id)).toEqual([other.sessionId])
  expect(await agents.get(agent.id)).toMatchObject({ state: 'stopped', sessionId: null })
})

test(statedCommand('update'), async () => {
  const agent = await agents.connect({ agentVersion: '3.1.0', availableVersions: ['3.2.0'], restartSeconds: 0 })
  await done(agent.sessionId, 'update')
  expect((await agents.get(agent.id)).update).toBe('running')
  await world.admin.advance(10)
  expect((await agents.get(agent.id)).update).toBe('installed')
  expect((await world.api.get('tunnel_sessions', agent.sessionId)).agent_version).toBe('3.1.0')
  await done(agent.sessionId, 'restart')
  expect((await agents.sessionOf(agent)).agent_version).toBe('3.2.0')
  expect((await agents.get(agent.id)).update).toBe('none')
})

test(stated('sessions.restart-too-early'), async () => {
  const updates = { agentVersion: '3.1.0', availableVersions: ['3.2.0'], restartSeconds: 0, updateSeconds: 0 }
  const agent = await agents.connect(updates)
  await done(agent.sessionId, 'update')
  expect((await agents.get(agent.id)).update).toBe('installed')
  await done(agent.sessionId, 'restart')
  const back = await agents.sessionOf(agent)
  expect(back.agent_version).toBe('3.1.0')
  // The update is lost, and can be requested again.
  await done(back.id, 'update')
  await world.admin.advance(10)
  await done(back.id, 'restart')
  expect((await agents.sessionOf(agent)).agent_version).toBe('3.2.0')
})

test('a restart before a long update is done brings the old version back', async () => {
  const slow = { agentVersion: '3.1.0', availableVersions: ['3.2.0'], restartSeconds: 0, updateSeconds: 600 }
  const agent = await agents.connect(slow)
  await done(agent.sessionId, 'update')
  await world.admin.advance(300)
  await done(agent.sessionId, 'restart')
  expect((await agents.sessionOf(agent)).agent_version).toBe('3.1.0')
})

test(stated('sessions.update-refused'), async () => {
  const version = { agentVersion: '3.1.0' }
  const current = await agents.connect({ ...version, availableVersions: ['3.1.0'] })
  const closed = await agents.connect({ ...version, availableVersions: ['3.2.0'], updateChecks: false })
  const busy = await agents.connect({ ...version, availableVersions: ['3.2.0'], updateSeconds: 600 })
  const waiting = await agents.connect({ ...version, availableVersions: ['3.2.0'], updateSeconds: 0 })
  await done(busy.sessionId, 'update')
  await done(waiting.sessionId, 'update')
  const codes: string[] = []
  for (const { sessionId } of [current, closed, busy, waiting]) codes.push(await codeOf(sessionId, 'update'))
  expect(new Set(codes).size).toBe(4)
  // An update in progress ends, and then requires a restart.
  await world.admin.advance(600)
  expect(await codeOf(busy.sessionId, 'update')).toBe(codes[3])
})

test(stated('sessions.update-in-major'), async () => {
  const versions = ['2.99.0', '3.1.9', '3.10.0', '3.9.1', '4.0.0', '30.0.0']
  const agent = await agents.connect({ agentVersion: '3.1.9', availableVersions: versions, restartSeconds: 0 })
  await done(agent.sessionId, 'update')
  await world.admin.advance(10)
  await done(agent.sessionId, 'restart')
  const session = await agents.sessionOf(agent)
  expect(session.agent_version).toBe('3.10.0')
  await codeOf(session.id, 'update')
})

test(stated('sessions.ssh'), async () => {
  const { id: sshCredential } = await createMinimal(world, 'ssh_credentials')
  const { sessionId } = await agents.connect({ sshCredential, agentVersion: '3.1.0', availableVersions: ['3.2.0'] })
  expect(await codeOf(sessionId, 'restart')).not.toBe(await codeOf(sessionId, 'update'))
  await done(sessionId, 'stop')
  expect(await agents.sessions()).toEqual([])
})

test(stated('sessions.no-events'), async () => {
  const { id: destination } = await createMinimal(world, 'event_destinations')
  const names = ['tunnel_session', 'tunnel', 'agent', 'tunnel_group_backend']
  const types = names.flatMap((name) => ['created', 'updated', 'deleted'].map((change) => `${name}_${change}.v0`))
  const sources = types.map((type) => ({ type }))
  await world.api.create('event_subscriptions', { sources, destination_ids: [destination] })
  const backend = await world.api.create('backends/tunnel_group', { labels: { app: 'events' } })
  const agent = await agents.connect({ tunnels: [{ labels: { app: 'events' } }], restartSeconds: 0 })
  await done(agent.sessionId, 'restart')
  await done(String((await agents.sessionOf(agent)).id), 'stop')
  expect((await world.admin.deliveriesTo(destination)).map(({ type }) => type)).toEqual([
    'tunnel_group_backend_created.v0',
  ])
  await world.api.remove(`/backends/tunnel_group/${backend.id}`)
})

test('every answer about sessions is as documented', async () => {
  const documentation = await Documentation.of(world)
  const client = new DocumentedClient(world.url, world.apiKey, documentation)
  const [agent, other, foreign] = [
    await agents.connect({ agentVersion: '3.1.0', availableVersions: ['3.2.0'] }),
    await agents.connect(),
    await agents.connect({ os: 'windows' }),
  ]
  await client.all('/tunnel_sessions?limit=1', 'tunnel_sessions')
  await client.get('tunnel_sessions', agent.sessionId)
  for (const [session, command] of [
    [agent, 'update'],
    [agent, 'update'],
    [agent, 'restart'],
    [other, 'stop'],
    [other, 'stop'],
    [foreign, 'restart'],
  ] as const) {
    await client.call('POST', `/tunnel_sessions/${session.sessionId}/${command}`, { body: {} })
  }
  await client.call('POST', `/tunnel_sessions/${foreign.sessionId}/update`, { body: { colour: 'blue' } })
  await client.call('GET', '/tunnel_sessions?limit=x')
  expect(client.misfits).toEqual([])
  const documented = Object.keys(documentation.document.paths).filter((path) => path.startsWith('/tunnel_sessions'))
  expect(documented).toHaveLength(5)
  for (const path of documented)
    expect(
      [...client.calls].some((call) => call.endsWith(` ${path}`)),
      path,
    ).toBe(true)
})
