import { type Resource, typeOf, type World } from '../../cluster/support/world.ts'
import { type Scene, type Subject, saying, says } from '../scene.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

/** The operator died after announcing an action and before performing it. */
export const updating: Scene = {
  name: 'updating',
  about:
    'An Edge during an update: the status says which modules it takes charge of, and the API has not been asked yet.',
  world: { flags: ['--request-timeout', '30s'] },
  async play({ world }) {
    const edge = { protocol: 'TCP' }
    await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
    await world.apply('Edge', 'edited', edge)
    await world.ready('IPPolicy', 'office')
    await world.ready('Edge', 'edited')
    world.emulator.admin.addFault({ match: { method: 'PATCH', every: true }, act: { type: 'hang', when: 'before' } })
    await world.apply('Edge', 'edited', { ...edge, ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } })
    return [await saying(world, 'Edge', 'edited', 'Progressing', 'InProgress', 'Current')]
  },
}

/** States that differ from what was created, and stay until people decide. */
export const reported: Scene = {
  name: 'reported',
  about:
    'An account with an orphan and an identity that was confirmed, an Edge with a foreign module, an adopted token during rotation.',
  async play({ world }) {
    await confirmed(world)
    await orphaned(world)
    await foreignModule(world)
    return [await adoptedRotating(world), await takenOver(world)]
  },
}

/** More objects vanished than an accident explains, and an administrator confirmed that this was intended. */
async function confirmed(world: World): Promise<void> {
  const names = Array.from({ length: 6 }, (_, index) => `confirmed-${index}`)
  for (const name of names) await world.apply('Backend', name, tunnels)
  const crs = await Promise.all(names.map((name) => world.ready('Backend', name)))
  for (const { status } of crs) await world.api.delete(`/backends/tunnel_group/${status?.id}`)
  await world.resync()
  await says(world, 'Account', 'default', 'IdentityUnproven')
  await world.annotate('Account', 'default', { 'culvert.dev/confirm-identity-requested-at': 'it was meant' })
  await world.ready('Account', 'default')
  for (const name of names) await world.ready('Backend', name)
}

/** The finalizer was removed by hand, so the object was not deleted. */
async function orphaned(world: World): Promise<void> {
  await world.apply('Backend', 'orphan', tunnels)
  await world.ready('Backend', 'orphan')
  await world.operator.kill()
  const key = { namespace: world.namespace, name: 'orphan' }
  await world.kube.mergePatch(typeOf('Backend'), key, { metadata: { finalizers: null } })
  await world.delete('Backend', 'orphan')
  await world.gone('Backend', 'orphan')
  await world.startOperator()
  await world.resync()
  const met = ({ status }: Resource): boolean => ((status?.orphans ?? []) as readonly unknown[]).length > 0
  await world.until('Account', 'default', 'tells of the orphan', met)
}

async function foreignModule(world: World): Promise<void> {
  await world.apply('Edge', 'foreign-module', { protocol: 'TCP' })
  const { status } = await world.ready('Edge', 'foreign-module')
  const policy = { enabled: true, inbound: [{ name: 'theirs', actions: [{ type: 'deny' }] }], outbound: [] }
  await world.api.patch(`/edges/tcp/${status?.id}`, { id: status?.id, policy })
  await world.resync()
  const met = (cr: Resource): boolean => String(cr.status?.foreignModules) === 'trafficPolicy'
  await world.until('Edge', 'foreign-module', 'tells of the module', met)
}

async function adoptedRotating(world: World): Promise<Subject> {
  const [kind, name] = ['TunnelCredential', 'adopted-rotating']
  const id = await world.api.create('/credentials')
  // An adopted object is retained by default, and then nothing is left to do.
  const rotation = { interval: '720h', overlap: '24h' }
  const adopting = { externalID: id, managementPolicy: 'Manage', deletionPolicy: 'Delete' }
  await world.apply(kind, name, { ...adopting, rotation })
  await world.ready(kind, name)
  await world.annotate(kind, name, { 'culvert.dev/rotate-requested-at': 'now' })
  await world.until(kind, name, 'is in rotation', ({ status }) => status?.internal?.superseded !== undefined)
  await world.ready(kind, name)
  return { kind, name, state: 'during rotation', phase: 'Current' }
}

/**
 * An operator of another cluster, with the same installation id, has put the marker of its own resource on the object.
 */
async function takenOver(world: World): Promise<Subject> {
  const name = 'taken-over'
  await world.apply('Backend', name, tunnels)
  const { status, metadata } = await world.ready('Backend', name)
  const path = `/backends/tunnel_group/${status?.id}`
  const marker = String((await world.api.get(path)).body.metadata)
  const other = '99999999-2222-3333-4444-555555555555'
  await world.api.patch(path, { id: status?.id, metadata: marker.replace(metadata.uid, other) })
  await world.resync()
  return saying(world, 'Backend', name, 'TakenOver', 'Failed')
}
