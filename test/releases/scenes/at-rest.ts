import { applyAll, applyNeeds, managed, subjectsOf } from '../../cluster/support/cases.ts'
import type { Resource, World } from '../../cluster/support/world.ts'
import { specsOf } from '../../kinds/lookup.ts'
import type { Scene, Subject } from '../scene.ts'
import { says } from '../scene.ts'

const cases = managed.flatMap(({ definition }) => specsOf(definition.kind))
const tunnels = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }

/** Resources of every kind at rest. */
export const atRest: Scene = {
  name: 'at-rest',
  about:
    'Every kind Ready with every field that a spec may have; observed, adopted, paused, repaired after drift, rotated, served by an agent.',
  world: { leaderElect: true },
  async play({ world }) {
    await served(world)
    await applyNeeds(world, cases, ['rest'])
    const subjects = subjectsOf(cases, 'rest')
    await applyAll(world, subjects)
    await Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 180_000)))
    await rotated(world)
    await drifted(world)
    return [...(await adopted(world)), ...(await paused(world))]
  },
}

/** A group that an agent serves, created before any resource that locks out agents. */
async function served(world: World): Promise<void> {
  const labels = { app: 'served' }
  const { body } = await world.api.post('/credentials', {})
  world.emulator.admin.connectAgent({ token: String(body.token), tunnels: [{ labels }] })
  await world.apply('Backend', 'served', { type: 'TunnelGroup', tunnelGroup: { labels } })
  await world.ready('Backend', 'served')
  await world.reason('Backend', 'served', 'TunnelsOnline', 'TunnelsOnline')
}

async function rotated(world: World): Promise<void> {
  const rotation = { rotation: { interval: '720h', overlap: '0s' } }
  for (const kind of ['APIKey', 'TunnelCredential']) {
    const name = `${kind.toLowerCase()}-rotated`
    await world.apply(kind, name, rotation)
    await world.ready(kind, name)
    await world.annotate(kind, name, { 'culvert.dev/rotate-requested-at': 'once' })
    const met = ({ status }: Resource): boolean => {
      return status?.lastHandledRotateAt === 'once' && status.internal?.superseded === undefined
    }
    await world.until(kind, name, 'has another token', met)
    await says(world, kind, name, 'RotationScheduled')
  }
}

async function drifted(world: World): Promise<void> {
  await world.apply('Backend', 'drifted', { ...tunnels, description: 'as it should be' })
  const { status } = await world.ready('Backend', 'drifted')
  await world.api.patch(`/backends/tunnel_group/${status?.id}`, { id: status?.id, description: 'edited by hand' })
  await world.annotate('Backend', 'drifted', { 'culvert.dev/reconcile-requested-at': 'after the edit' })
  const met = (cr: Resource): boolean => cr.status?.lastHandledReconcileAt === 'after the edit'
  await world.until('Backend', 'drifted', 'was put back', met)
  await world.resync()
}

async function adopted(world: World): Promise<readonly Subject[]> {
  const told: Subject[] = []
  for (const [kind, path, spec] of [
    ['Backend', '/backends/tunnel_group', tunnels],
    ['ReservedAddress', '/reserved_addrs', {}],
    ['TunnelCredential', '/credentials', {}],
  ] as const) {
    const [seen, taken] = [await world.api.create(path), await world.api.create(path)]
    const described = { ...spec, description: 'ours' }
    await world.apply(kind, 'observed', { ...described, externalID: seen, managementPolicy: 'Observe' })
    await says(world, kind, 'observed', 'Observed')
    told.push({ kind, name: 'observed', state: 'Observed', phase: 'Current' })
    await world.apply(kind, 'adopted', { ...described, externalID: taken, managementPolicy: 'Manage' })
    await world.ready(kind, 'adopted')
  }
  return told
}

async function paused(world: World): Promise<readonly Subject[]> {
  await world.apply('Backend', 'paused', tunnels)
  await world.ready('Backend', 'paused')
  await world.annotate('Backend', 'paused', { 'culvert.dev/paused': 'true' })
  await world.apply('Backend', 'paused-new', tunnels, { annotations: { 'culvert.dev/paused': 'true' } })
  const names = ['paused', 'paused-new']
  for (const name of names) await says(world, 'Backend', name, 'Paused')
  return [
    { kind: 'Backend', name: 'paused', state: 'Paused', phase: 'Current' },
    { kind: 'Backend', name: 'paused-new', state: 'Paused', phase: 'InProgress' },
  ]
}
