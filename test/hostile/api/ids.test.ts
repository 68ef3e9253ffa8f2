import { afterAll, beforeAll, expect, test } from 'vitest'
import { conditionOf, type Resource, World } from '../../cluster/support/world.ts'
import { LyingWorld } from '../support/lying-world.ts'

/*
 * One API returns ids of another: deliberately, to block or mislead the resources of another tenant; or because two
 * accounts are the same, opened with two keys.
 */

const tunnels = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }

/** Makes the Account list everything now. */
async function resync(world: World, name: string): Promise<Resource> {
  const value = `pass-${performance.now()}`
  await world.annotate('Account', name, { 'culvert.dev/reconcile-requested-at': value })
  const handled = (cr: Resource): boolean => cr.status?.lastHandledReconcileAt === value
  return world.until('Account', name, 'was looked at', handled, 60_000)
}

test('a resource’s object is no orphan to a second key of the account, even while the first key is refused', async () => {
  await using world = await World.open()
  const names = ['web-0', 'web-1']
  for (const name of names) await world.apply('Backend', name, tunnels)
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  for (const name of names) await world.ready('Backend', name)
  await world.ready('IPPolicy', 'office')
  const { body } = await world.api.post('/api_keys', {})
  await world.secret('second', { apiKey: String(body.token) })
  const own = { baseURL: world.emulator.url, apiKeySecretRef: { name: 'second' } }
  await world.apply('Account', 'second', own)
  await world.apply('Backend', 'other', { ...tunnels, accountRef: { name: 'second' } })
  await world.apply('IPPolicy', 'other', {
    rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }],
    accountRef: { name: 'second' },
  })
  await world.ready('Backend', 'other')
  await world.ready('IPPolicy', 'other')
  expect((await resync(world, 'second')).status?.orphanCount).toBe(0)
  expect((await resync(world, 'default')).status?.orphanCount).toBe(0)
  // A process that restarts knows only what statuses say about the first account.
  await world.operator.kill()
  await world.setKey('revoked')
  await world.startOperator()
  await world.until('Account', 'default', 'is refused', (cr) => conditionOf(cr, 'Ready')?.status === 'False', 60_000)
  expect((await resync(world, 'second')).status?.orphanCount).toBe(0)
  expect((await world.remote('backends/tunnel_group')).length).toBe(3)
  await world.setKey(world.emulator.apiKey)
  await world.until(
    'Account',
    'default',
    'is opened again',
    (cr) => conditionOf(cr, 'Ready')?.status === 'True',
    60_000,
  )
})

let lying: LyingWorld
beforeAll(async () => {
  lying = await LyingWorld.open()
})
afterAll(() => lying[Symbol.asyncDispose]())

test('an API that returns the objects of another account, with ids and markers, blocks nothing there', {
  timeout: 180_000,
}, async () => {
  const { world } = lying
  // The Account `default` leads to the lying API; `honest` to the one that it copies.
  await world.secret('honest', { apiKey: world.emulator.apiKey })
  await world.apply('Account', 'honest', { baseURL: world.emulator.url, apiKeySecretRef: { name: 'honest' } })
  const ofHonest = { ...tunnels, accountRef: { name: 'honest' } }
  await world.apply('Backend', 'web', ofHonest)
  const { status } = await world.ready('Backend', 'web')
  const mark = world.mark()
  await world.apply('Backend', 'thief', { ...tunnels, managementPolicy: 'Manage', externalID: status?.id })
  const { message } = await world.reason('Backend', 'thief', 'Synced', 'NotAdoptable', 60_000)
  expect(message).toContain(String(status?.id))
  await resync(world, 'default')
  await resync(world, 'honest')
  expect((await world.ready('Backend', 'web')).status?.id).toBe(status?.id)
  expect(world.writes(mark)).toEqual([])
  await world.delete('Backend', 'web')
  await world.gone('Backend', 'web', 60_000)
  expect(await world.remote('backends/tunnel_group')).toEqual([])
})

test('a resource that names an object at such an API does not keep it from a resource of the other account', async () => {
  const { world } = lying
  const { body } = await world.api.post('/backends/tunnel_group', { labels: { app: 'by-hand' } })
  const id = String(body.id)
  await world.secret('other', { apiKey: world.emulator.apiKey })
  await world.apply('Account', 'other', { baseURL: world.emulator.url, apiKeySecretRef: { name: 'other' } })
  await world.apply('Backend', 'observer', { ...tunnels, managementPolicy: 'Observe', externalID: id })
  await world.until('Backend', 'observer', 'has observed it', (cr) => cr.status?.id === id, 60_000)
  const adopted = { ...tunnels, managementPolicy: 'Manage', externalID: id, accountRef: { name: 'other' } }
  await world.apply('Backend', 'adopter', adopted)
  expect((await world.ready('Backend', 'adopter', 60_000)).status?.id).toBe(id)
  for (const name of ['adopter', 'observer']) {
    await world.delete('Backend', name)
    await world.gone('Backend', name, 60_000)
  }
  await world.api.delete(`/backends/tunnel_group/${id}`)
})
