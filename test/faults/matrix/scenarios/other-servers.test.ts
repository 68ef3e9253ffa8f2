import { describe, expect, test } from 'vitest'
import { DECIDED, withAlternative } from '../../../../src/emulator/choices/choices.ts'
import { begin, conditionOf, isReady, objectsIn, ready, type Scene, until } from '../../simulation/scenario.ts'
import { refusal, refusing, showing } from '../../simulation/shaped-answers.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

/** What a server that keeps the contract may do, and ours does not. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** With which a write is refused that conflicts with something. */
const STATUSES = [409, 400, 422] as const

function shown(world: SimulatedWorld, kind: string, type: string) {
  const found = conditionOf(world.get(kind, 'ci'), type)
  return found && { status: found.status, reason: found.reason }
}

/** Writes to edges at the API. */
function toEdges({ writes }: Scene, from = 0): readonly string[] {
  return writes.slice(from).filter((write) => write.startsWith('api') && write.includes(' /edges/tcp'))
}

test.each(['', '{}', 'a bot'])('a bot user that shows the metadata %j is created once', async (metadata) => {
  const { world } = await begin(['BotUser'])
  world.trouble = showing('bot_users', (object) => ({ ...object, metadata }))
  world.apply('BotUser', 'ci', { displayName: 'ci' })
  await world.advance(10 * MINUTE)
  expect(isReady(world, 'BotUser', 'ci')).toBe(true)
  expect(await objectsIn(world, 'bot_users')).toMatchObject([{ name: 'ci' }])
})

describe.each(STATUSES)('an object in use whose deletion is refused with %i', (status) => {
  function inUse(world: SimulatedWorld, id: string): void {
    world.trouble = refusing(({ method, path }) => {
      return method === 'DELETE' && path.endsWith(`/${id}`) ? refusal(status, `${id} is in use`) : undefined
    })
  }

  test('is deleted soon after it is free', async () => {
    const { world } = await begin(['Backend'])
    world.apply('Backend', 'ci', { type: 'TunnelGroup', tunnelGroup: {} })
    inUse(world, await ready(world, 'Backend', 'ci'))
    world.delete('Backend', 'ci')
    await world.advance(2 * MINUTE)
    expect(shown(world, 'Backend', 'Ready')).toEqual({ status: 'False', reason: 'Rejected' })
    world.calm()
    await world.advance(MINUTE)
    expect(world.get('Backend', 'ci')).toBeUndefined()
    expect(await objectsIn(world, 'backends/tunnel_group')).toEqual([])
  })

  test('does not disturb the one that has replaced it', async () => {
    const { world } = await begin(['TunnelCredential'])
    world.apply('TunnelCredential', 'ci', { rotation: { interval: '1h', overlap: '1m' } })
    const former = await ready(world, 'TunnelCredential', 'ci')
    inUse(world, former)
    await world.advance(65 * MINUTE)
    expect(world.get('TunnelCredential', 'ci')?.status?.id).not.toBe(former)
    expect(isReady(world, 'TunnelCredential', 'ci')).toBe(true)
    world.calm()
    await world.advance(MINUTE)
    expect(await objectsIn(world, 'credentials')).toHaveLength(1)
  })
})

describe('a service that takes rules of a policy only as single objects', () => {
  const trafficPolicy = { inbound: [{ expressions: ['true'], actions: [{ type: 'deny' }] }] }
  const choices = withAlternative(DECIDED, { name: 'rules-taken', value: 'object' })

  test('gets the edge that way, created once, and its edits', async () => {
    const scene = await begin(['Edge'], { choices })
    const { world, oracle, writes } = scene
    world.apply('Edge', 'ci', { protocol: 'TCP', trafficPolicy })
    await ready(world, 'Edge', 'ci', MINUTE)
    expect(toEdges(scene)).toEqual(['api POST /edges/tcp', 'api POST /edges/tcp'])
    const { length } = writes
    world.apply('Edge', 'ci', { protocol: 'TCP', trafficPolicy: { inbound: [{ actions: [{ type: 'log' }] }] } })
    await world.advance(10 * MINUTE)
    expect(isReady(world, 'Edge', 'ci')).toBe(true)
    expect(JSON.stringify((await objectsIn(world, 'edges/tcp')).map(({ policy }) => policy))).toMatch(/"type":"log"/)
    expect(toEdges(scene, length)).toEqual(['api PATCH /edges/tcp/{id}', 'api PATCH /edges/tcp/{id}'])
    expect(oracle.violations).toEqual([])
  })

  test('gets the first form of what it refuses in both, and the condition says so', async () => {
    const scene = await begin(['Edge'], { choices })
    const { world } = scene
    world.trouble = refusing(() => refusal(400))
    world.apply('Edge', 'ci', { protocol: 'TCP', trafficPolicy })
    await world.advance(5 * MINUTE)
    expect(toEdges(scene)).toEqual(['api POST /edges/tcp', 'api POST /edges/tcp'])
    expect(shown(world, 'Edge', 'Synced')).toEqual({ status: 'False', reason: 'Rejected' })
  })
})

describe('a service that wants what a module refers to, also where it is disabled', () => {
  async function start(): Promise<Scene> {
    const choices = withAlternative(DECIDED, { name: 'module-contents', value: 'mandatory' })
    const scene = await begin(['Edge', 'Backend'], { choices })
    scene.world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
    await ready(scene.world, 'Backend', 'web')
    return scene
  }

  test('gets a new edge with it, and without a disabled module that refers to nothing', async () => {
    const scene = await start()
    const { world } = scene
    world.apply('Edge', 'ci', {
      protocol: 'TCP',
      backend: { name: 'web', enabled: false },
      ipRestriction: { enabled: false },
    })
    await ready(world, 'Edge', 'ci', MINUTE)
    const [backend] = await objectsIn(world, 'backends/tunnel_group')
    expect(await objectsIn(world, 'edges/tcp')).toMatchObject([
      { backend: { enabled: false, backend: { id: backend?.id } }, ip_restriction: null },
    ])
    expect(toEdges(scene)).toEqual(['api POST /edges/tcp', 'api POST /edges/tcp'])
  })

  test('keeps it in a module that has left the spec', async () => {
    const scene = await start()
    const { world, writes } = scene
    world.apply('Edge', 'ci', { protocol: 'TCP', backend: { name: 'web' } })
    await ready(world, 'Edge', 'ci', MINUTE)
    const { length } = writes
    world.apply('Edge', 'ci', { protocol: 'TCP' })
    await world.advance(30 * MINUTE)
    expect(isReady(world, 'Edge', 'ci')).toBe(true)
    expect(await objectsIn(world, 'edges/tcp')).toMatchObject([{ backend: { enabled: false } }])
    expect(toEdges(scene, length)).toEqual(['api PATCH /edges/tcp/{id}', 'api PATCH /edges/tcp/{id}'])
  })
})

describe('a service that refuses what is in a disabled module', () => {
  const off = { protocol: 'TCP', backend: { name: 'web', enabled: false } }
  const message = (world: SimulatedWorld) => conditionOf(world.get('Edge', 'ci'), 'Ready')?.message

  test('gets the edge without it, once, which the condition says, and gets it with the enabled module', async () => {
    const choices = withAlternative(DECIDED, { name: 'module-contents', value: 'refused' })
    const scene = await begin(['Edge', 'Backend'], { choices })
    const { world, writes } = scene
    world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
    await ready(world, 'Backend', 'web')
    world.apply('Edge', 'ci', off)
    await ready(world, 'Edge', 'ci', MINUTE)
    expect(toEdges(scene)).toEqual(['api POST /edges/tcp', 'api POST /edges/tcp'])
    expect(message(world)).toContain('the API does not return the contents of spec.backend while disabled')
    const { length } = writes
    await world.advance(HOUR)
    expect(toEdges(scene, length)).toEqual([])
    world.apply('Edge', 'ci', { ...off, backend: { name: 'web' } })
    await world.advance(MINUTE)
    expect(await objectsIn(world, 'edges/tcp')).toMatchObject([{ backend: { enabled: true } }])
    world.apply('Edge', 'ci', off)
    await world.advance(HOUR)
    expect(await objectsIn(world, 'edges/tcp')).toMatchObject([{ backend: { enabled: false, backend: null } }])
    expect(message(world)).toContain('the API does not return the contents of spec.backend while disabled')
    expect(toEdges(scene, length)).toHaveLength(3)
    expect(isReady(world, 'Edge', 'ci')).toBe(true)
  })

  test('is disabled while what it would refer to does not exist', async () => {
    const scene = await begin(['Edge', 'Backend'])
    const { world } = scene
    world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
    world.apply('Edge', 'ci', { protocol: 'TCP', backend: { name: 'web' } })
    await ready(world, 'Edge', 'ci', MINUTE)
    world.apply('Edge', 'ci', { protocol: 'TCP', backend: { name: 'late', enabled: false } })
    await world.advance(MINUTE)
    const [web] = await objectsIn(world, 'backends/tunnel_group')
    expect(await objectsIn(world, 'edges/tcp')).toMatchObject([
      { backend: { enabled: false, backend: { id: web?.id } } },
    ])
    world.apply('Backend', 'late', { type: 'TunnelGroup', tunnelGroup: {} })
    const late = await ready(world, 'Backend', 'late')
    await world.advance(MINUTE)
    expect(await objectsIn(world, 'edges/tcp')).toMatchObject([{ backend: { enabled: false, backend: { id: late } } }])
  })
})

test('a minVersion that leaves the spec goes back to the service', async () => {
  const choices = withAlternative(DECIDED, { name: 'min-version-default', value: '1.3' })
  for (const [server, version] of [
    [DECIDED, undefined],
    [choices, '1.3'],
  ] as const) {
    const scene = await begin(['Edge'], { choices: server })
    const { world, writes } = scene
    const versionOf = (): unknown => {
      const modules = world.get('Edge', 'ci')?.status?.modules as {
        readonly tlsTermination: { readonly minVersion?: string }
      }
      return modules.tlsTermination.minVersion
    }
    world.apply('Edge', 'ci', { protocol: 'TLS', tlsTermination: { minVersion: '1.2' } })
    await ready(world, 'Edge', 'ci', MINUTE)
    expect(versionOf()).toBe('1.2')
    world.apply('Edge', 'ci', { protocol: 'TLS', tlsTermination: {} })
    await world.advance(MINUTE)
    expect(versionOf()).toBe(version)
    const { length } = writes
    await world.advance(HOUR)
    expect(writes.slice(length)).toEqual([])
    // The spec sets what the service has chosen, and then no longer does: the choice is the service's again.
    world.apply('Edge', 'ci', { protocol: 'TLS', tlsTermination: { minVersion: '1.3' } })
    await world.advance(MINUTE)
    world.apply('Edge', 'ci', { protocol: 'TLS', tlsTermination: {} })
    await world.advance(MINUTE)
    expect(versionOf()).toBe(version)
    expect(writes.filter((write) => write.includes('PATCH /edges/tls'))).toHaveLength(3 - Number(version === '1.3'))
  }
})

describe('a service that answers 404 for an id in a body', () => {
  const absent = refusal(404, 'there is no bkdtg_1')

  /** Such a write is sent again every ten minutes at most, until the API takes it. */
  async function expectSlowUntilReady(scene: Scene): Promise<void> {
    const { world, writes } = scene
    expect(shown(world, 'Edge', 'Synced')).toEqual({ status: 'False', reason: 'Rejected' })
    const { length } = writes
    await world.advance(HOUR)
    expect(toEdges(scene, length).length).toBeLessThanOrEqual(7)
    world.calm()
    await ready(world, 'Edge', 'ci', 15 * MINUTE)
  }

  test('is asked to create again soon, then every ten minutes, and the condition says what is missing', async () => {
    const scene = await begin(['Edge', 'Backend'])
    const { world } = scene
    world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
    world.trouble = refusing(({ method, path }) => (method === 'POST' && path === 'edges/tcp' ? absent : undefined))
    world.apply('Edge', 'ci', { protocol: 'TCP', backend: { name: 'web' } })
    await world.advance(30 * SECOND)
    expect(shown(world, 'Edge', 'Synced')).toEqual({ status: 'False', reason: 'ApiError' })
    await world.advance(10 * MINUTE)
    await expectSlowUntilReady(scene)
    expect(await objectsIn(world, 'edges/tcp')).toHaveLength(1)
  })

  test('is asked to update again soon, then every ten minutes, without a list for each', async () => {
    const scene = await begin(['Edge'])
    const { world } = scene
    world.apply('Edge', 'ci', { protocol: 'TCP' })
    await ready(world, 'Edge', 'ci')
    world.trouble = refusing(({ method }) => (method === 'PATCH' ? absent : undefined))
    world.apply('Edge', 'ci', { protocol: 'TCP', description: 'edited' })
    await world.advance(10 * MINUTE)
    await expectSlowUntilReady(scene)
    expect(await objectsIn(world, 'edges/tcp')).toMatchObject([{ description: 'edited' }])
  })
})

test('a certificate of a deleted object does not count for the one created in its place, whatever the clocks say', async () => {
  const { world } = await begin(['AgentIngress'])
  const reasonOf = (type: string) => conditionOf(world.get('AgentIngress', 'edge'), type)?.reason
  const shows = (job: unknown): void => {
    const management = { renews_at: null, provisioning_job: job }
    // By the API's clock, the object is from long before any condition.
    const fields = { certificate_management_status: management, created_at: '2020-01-01T00:00:00Z' }
    world.trouble = showing('agent_ingresses', (object) => ({ ...object, ...fields }))
  }
  shows(null)
  world.apply('AgentIngress', 'edge', { domain: 'agents.example.com', certificate: { type: 'Managed', managed: {} } })
  await until(world, 'in use', () => reasonOf('CertificateReady') === 'CertificateIssued', MINUTE)
  const former = world.get('AgentIngress', 'edge')?.status?.id ?? ''
  shows({ error_code: null, msg: '', started_at: '2026-01-01T00:00:00Z', retries_at: null })
  await world.api.ask('DELETE', `/agent_ingresses/${former}`)
  const isOther = (): boolean => ![undefined, former].includes(world.get('AgentIngress', 'edge')?.status?.id)
  await until(world, 'created again', isOther, 10 * MINUTE)
  expect(reasonOf('CertificateReady')).toBe('CertificatePending')
  await world.advance(5 * MINUTE)
  expect(reasonOf('CertificateReady')).toBe('CertificatePending')
  expect(reasonOf('Ready')).not.toBe('Available')
})
