import { expect, test } from 'vitest'
import { until } from './support/wait.ts'
import { conditionOf, World } from './support/world.ts'

const CONFIRM = 'culvert.dev/confirm-identity-requested-at'
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
const path = 'backends/tunnel_group'

/** A world in which `count` Backends are Ready. */
async function openWith(count: number): Promise<World> {
  const world = await World.open()
  const names = Array.from({ length: count }, (_, index) => `shop-${index}`)
  await Promise.all(names.map((name) => world.apply('Backend', name, tunnels)))
  for (const name of names) await world.ready('Backend', name, 60_000)
  return world
}

/** Deletes that many of the account's Backends behind the operator's back, that of `shop-0` among them. */
async function vanish(world: World, count: number): Promise<void> {
  const ids = (await world.list('Backend')).slice(0, count).map(({ status }) => status?.id)
  for (const id of ids) expect((await world.api.delete(`/${path}/${id}`)).status).toBe(204)
}

/** The brake is on: whatever is asked for meanwhile, nothing is written at the API and no finalizer goes. */
async function expectNothingMoves(world: World, mark: number): Promise<void> {
  await world.reason('Account', 'default', 'Ready', 'IdentityUnproven')
  await world.apply('Backend', 'newcomer', tunnels)
  await world.delete('Backend', 'shop-0')
  for (const name of ['newcomer', 'shop-0']) await world.reason('Backend', name, 'Ready', 'IdentityUnproven')
  // Further looks at the account find the same.
  await world.resync()
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  expect((await world.get('Backend', 'shop-0'))?.metadata.finalizers).toEqual(['culvert.dev/remote'])
  const account = await world.get('Account', 'default')
  expect(conditionOf(account, 'Ready')).toMatchObject({ status: 'False', reason: 'IdentityUnproven' })
  expect(conditionOf(account, 'Ready')?.message).toContain(CONFIRM)
}

/** What waited is carried out: the new Backend exists, the deleted one does not. */
async function expectResumed(world: World): Promise<void> {
  await world.ready('Account', 'default')
  await world.ready('Backend', 'newcomer')
  await world.gone('Backend', 'shop-0')
}

for (const { held, few, tags } of [
  { held: 8, few: 5, tags: [] },
  { held: 70, few: 7, tags: ['nightly'] },
]) {
  test(`of ${held} objects ${few} may vanish in one resync and are recreated; one more needs the administrator`, {
    tags,
  }, async () => {
    await using world = await openWith(held)
    await vanish(world, few)
    const mark = world.mark()
    await world.resync()
    await until('they are made again', async () => (await world.remote(path)).length === held)
    expect(world.writes(mark).map(({ method }) => method)).toEqual(Array.from({ length: few }, () => 'POST'))
    for (const { metadata } of await world.list('Backend')) await world.ready('Backend', metadata.name)

    await vanish(world, few + 1)
    const later = world.mark()
    await world.resync()
    await expectNothingMoves(world, later)
    await world.annotate('Account', 'default', { [CONFIRM]: 'they were deleted on purpose' })
    await expectResumed(world)
    for (const { metadata } of await world.list('Backend')) await world.ready('Backend', metadata.name)
    // One came, one went.
    expect(await world.remote(path)).toHaveLength(held)
  })
}

test('objects that reappear prove the account’s identity', { tags: 'nightly' }, async () => {
  await using world = await openWith(8)
  const snapshot = world.emulator.admin.snapshot()
  const before = await world.remote(path)
  await vanish(world, 8)
  const mark = world.mark()
  await world.resync()
  await expectNothingMoves(world, mark)
  world.emulator.admin.restore(snapshot)
  await world.resync()
  await expectResumed(world)
  const after = await world.remote(path)
  const kept = before.filter(({ id }) => after.some((object) => object.id === id))
  expect(kept).toHaveLength(7)
  expect(
    world
      .writes(mark)
      .map(({ method }) => method)
      .sort((a, b) => a.localeCompare(b)),
  ).toEqual(['DELETE', 'POST'])
})
