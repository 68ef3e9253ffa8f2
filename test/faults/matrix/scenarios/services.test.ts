import { expect, test } from 'vitest'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { partKinds } from '../../../../src/managed/services/objects.ts'
import { SERVICE_READY, serviceType } from '../../../../src/managed/services/service.ts'
import type { Sighting } from '../../simulation/faults.ts'
import { begin, eventsOf, patch, type Scene, until } from '../../simulation/scenario.ts'
import { faults, onWrite, refusal, refusing } from '../../simulation/shaped-answers.ts'
import { edgesIn, OFFICE, remove, serve, serviceIn } from '../../simulation/tunnels/serving.ts'
import { Workloads } from '../../simulation/tunnels/workloads.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'

const GATEWAY = 'ssh.example.com:22'
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGWj5WsELK+Ia2pYS7rEcYT1J3hZz5UlEu40Jb6MKuWp'
const MINUTE = 60_000

/** A world with the policy `office`, and a Service that is at rest. */
async function serving(wish: Parameters<typeof serve>[1]): Promise<Scene> {
  const scene = await begin([...partKinds, 'IPPolicy', 'SSHCredential'], {
    accountSpec: { sshGateway: { address: GATEWAY, hostKeys: [HOST_KEY] } },
    tunnels: { image: 'culvert:test', gateways: [GATEWAY], templates: true, images: [] },
    services: true,
  })
  const { world } = scene
  new Workloads(world)
  for (const name of ['office', 'lab']) world.apply('IPPolicy', name, OFFICE)
  serve(world, wish)
  await until(world, 'it is served', () => saidOf(world)?.status === 'True')
  await world.advance(5 * MINUTE)
  return scene
}

function saidOf(world: SimulatedWorld) {
  return serviceIn(world)?.status?.conditions?.find(({ type }) => type === SERVICE_READY)
}

/** Whether any edge lets in clients whom no policy has admitted. */
function isOpen(world: SimulatedWorld): boolean {
  return edgesIn(world).some(({ policies }) => policies?.length === 0)
}

const isEdgeStatus = ({ server, method, path }: Sighting): boolean => {
  return server === 'kubernetes' && method === 'PATCH' && path.includes('/edges/') && path.endsWith('/status')
}

test('a Service whose Edge could not report that it opened is closed when its policy is missing', async () => {
  const { world } = await serving({ policies: 'office' })
  world.trouble = {
    request: (sighting) => {
      return isEdgeStatus(sighting)
        ? { type: 'answer', when: 'before', answer: { status: 500, body: 'no' } }
        : undefined
    },
  }
  serve(world, {})
  await world.advance(MINUTE)
  // Nothing opens without a record of it.
  expect(isOpen(world)).toBe(false)
  world.delete('IPPolicy', 'office')
  await world.advance(MINUTE)
  serve(world, { policies: 'office' })
  await world.advance(MINUTE)
  world.calm()
  await world.advance(10 * MINUTE)
  expect(isOpen(world)).toBe(false)
  world.apply('IPPolicy', 'office', OFFICE)
  await until(world, 'it is restricted by the policy', () => {
    const id = world.get('IPPolicy', 'office')?.status?.id
    return id !== undefined && edgesIn(world).every(({ policies }) => policies?.join() === id)
  })
})

test('a Service whose operator died right after it opened an Edge is closed when its policy is missing', async () => {
  const { world } = await serving({ policies: 'office' })
  world.startNone()
  world.trouble = {
    request: ({ server, method, path }) => {
      const isOpening = server === 'api' && method === 'PATCH' && path.startsWith('/edges/')
      return isOpening ? { type: 'kill', when: 'after' } : undefined
    },
  }
  serve(world, {})
  await until(world, 'it is open', () => isOpen(world))
  world.calm()
  world.delete('IPPolicy', 'office')
  serve(world, { policies: 'office' })
  // Nobody deletes the object first.
  const key = { namespace: NAMESPACE, name: 'office' }
  await world.api.ask('DELETE', `/ip_policies/${world.get('IPPolicy', 'office')?.status?.id}`)
  world.server.patch(world.typeOf('IPPolicy'), key, { metadata: { finalizers: [] } })
  world.up()
  await world.advance(5 * MINUTE)
  expect(isOpen(world)).toBe(false)
  expect(saidOf(world)).toMatchObject({ status: 'False', reason: 'ReferenceNotReady' })
})

test('an edit that opens an Edge costs one further write of its status, and rest costs none', async () => {
  const { world, writes } = await serving({ policies: 'office' })
  const statusWrites = async (): Promise<number> => {
    const from = writes.length
    await world.advance(5 * MINUTE)
    return writes.slice(from).filter((write) => write.includes('/edges/') && write.endsWith('/status')).length
  }
  serve(world, {})
  expect(await statusWrites()).toBe(2)
  expect(isOpen(world)).toBe(true)
  expect(await statusWrites()).toBe(0)
})

/** The API refuses every edit of an edge that restricts it. */
function refusesRestrictions(world: SimulatedWorld): void {
  world.trouble = refusing(({ method, path, body }) => {
    const restriction = body.ip_restriction as { readonly enabled?: boolean } | undefined
    const isRefused = method === 'PATCH' && path.startsWith('edges/') && restriction?.enabled === true
    return isRefused ? refusal(400, 'too many policies') : undefined
  })
}

function warnings(scene: Scene): readonly string[] {
  return eventsOf(scene.world).filter((event) => event.startsWith('Service/') && !event.endsWith('Available'))
}

test.each([
  ['serves everyone', {}],
  ['is restricted by another policy', { policies: 'lab' }],
])('a Service that %s is closed while the API refuses its restriction, and says so once', async (_, before) => {
  const scene = await serving(before)
  const { world, writes } = scene
  refusesRestrictions(world)
  const from = writes.length
  serve(world, { policies: 'office' })
  await until(world, 'it is closed', () => edgesIn(world).every(({ policies }) => policies === undefined))
  await world.advance(5 * MINUTE)
  expect(saidOf(world)).toMatchObject({
    status: 'False',
    reason: 'Rejected',
    message: expect.stringMatching(/^Edge\/web-80 is closed until its policies can be applied: .*too many policies/),
  })
  expect(warnings(scene)).toEqual(['Service/web Rejected'])
  await world.advance(60 * MINUTE)
  expect(edgesIn(world).map(({ policies }) => policies)).toEqual([undefined])
  expect(warnings(scene)).toEqual(['Service/web Rejected'])
  // The edge is restricted, closed, and restricted again: what is refused is repeated every ten minutes.
  expect(writes.slice(from).filter((write) => write.includes('api PATCH /edges')).length).toBeLessThanOrEqual(20)
  world.calm()
  await until(world, 'it is open for the policy', () => {
    const id = world.get('IPPolicy', 'office')?.status?.id
    return edgesIn(world).every(({ policies }) => policies?.join() === id)
  })
  await until(world, 'it is served', () => saidOf(world)?.status === 'True')
})

test('a Service is not Ready while its Edge does not follow it', async () => {
  const { world } = await serving({ policies: 'office' })
  world.trouble = onWrite(({ path }) => (path.startsWith('edges/') ? faults.broken : undefined))
  serve(world, {})
  await world.advance(MINUTE)
  expect(saidOf(world)).toMatchObject({
    status: 'False',
    message: expect.stringContaining('Edge/web-80 is not Synced'),
  })
  world.calm()
  await until(world, 'it is served', () => saidOf(world)?.status === 'True')
})

/** Creates of what a Service or a Tunnel owns. */
function creates(writes: readonly string[], from: number): readonly string[] {
  return writes
    .slice(from)
    .filter((write) => /^kubernetes POST .*\/(reservedaddresses|backends|edges|tunnels|deployments)$/.test(write))
}

test.each([
  ['Service', '/services'],
  ['Tunnel', '/tunnels'],
])('what a deleted %s owned is not made again while its watch is silent', async (kind, path) => {
  const { world, oracle, writes } = await serving({ ports: [80, 443] })
  world.trouble = {
    request: () => undefined,
    frame: (watch) => (watch.path.endsWith(path) ? 'stall' : undefined),
  }
  const from = writes.length
  if (kind === 'Service') remove(world)
  else world.delete(kind, 'web-80')
  await world.advance(3 * MINUTE)
  // A Service makes its Tunnel again, once, as soon as it knows.
  expect(creates(writes, from).length).toBeLessThanOrEqual(kind === 'Service' ? 0 : 2)
  expect(oracle.violations).toEqual([])
})

test('what somebody keeps deleting is made again, ever more rarely', async () => {
  const { world, writes } = await serving({})
  const from = writes.length
  for (let round = 0; round < 60; round++) {
    world.delete('Backend', 'web-80')
    await world.advance(MINUTE / 2)
  }
  const backends = creates(writes, from).filter((write) => write.endsWith('/backends'))
  expect(backends.length).toBeGreaterThanOrEqual(3)
  expect(backends.length).toBeLessThanOrEqual(10)
})

/** The parts of the Service, by kind and name. */
function parts(world: SimulatedWorld): readonly CustomResource[] {
  return partKinds.flatMap((kind) => world.kube.list<CustomResource>(world.typeOf(kind)).items)
}

/** Like `kubectl delete --cascade=orphan`. */
function removeAlone(world: SimulatedWorld): void {
  const service = serviceIn(world)
  if (service === undefined) throw new Error('there is no Service')
  world.server.patch(serviceType, service.metadata, { metadata: { finalizers: ['orphan'] } })
  remove(world)
  for (const { kind, metadata } of parts(world))
    patch(world, kind, metadata.name, { metadata: { ownerReferences: null } })
  world.server.patch(serviceType, service.metadata, { metadata: { finalizers: null } })
}

test('a Service that was deleted alone, and comes again, takes back what it left, with ids and hosts', async () => {
  const { world, oracle } = await serving({ policies: 'office', ports: [80, 443] })
  const facts = () =>
    parts(world)
      .map(({ kind, metadata: { name, uid }, status }) => [
        kind,
        name,
        uid,
        status?.id,
        (status as { hostports?: unknown } | undefined)?.hostports,
      ])
      .sort()
  const before = facts()
  const edges = edgesIn(world)
  removeAlone(world)
  await world.advance(5 * MINUTE)
  expect(facts()).toEqual(before)
  expect(edgesIn(world)).toEqual(edges)
  serve(world, { policies: 'office', ports: [80, 443] })
  await until(world, 'it is served', () => saidOf(world)?.status === 'True')
  expect(facts()).toEqual(before)
  const { uid } = serviceIn(world)?.metadata ?? {}
  for (const { metadata } of parts(world)) expect(metadata.ownerReferences).toMatchObject([{ uid, controller: true }])
  expect(oracle.violations).toEqual([])
})

test('what a Service left is closed when the next one asks for a policy that is missing', async () => {
  const { world } = await serving({})
  removeAlone(world)
  await world.advance(MINUTE)
  serve(world, { policies: 'none' })
  await until(world, 'it is closed', () => edgesIn(world).every(({ policies }) => policies === undefined), MINUTE)
  expect(isOpen(world)).toBe(false)
})

test('what only looks like a part of a Service is not taken', async () => {
  const scene = await serving({})
  const { world } = scene
  remove(world)
  await world.advance(5 * MINUTE)
  const note = { 'internal.culvert.dev/output-of': 'Service/web' }
  world.apply(
    'Backend',
    'web-80',
    { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'mine' } } },
    { annotations: note },
  )
  serve(world, {})
  await until(world, 'it says so', () => saidOf(world)?.reason === 'OutputNotOwned')
  expect(world.get('Backend', 'web-80')?.metadata.ownerReferences).toBeUndefined()
})
