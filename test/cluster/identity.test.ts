import { expect, test } from 'vitest'
import { until } from './support/wait.ts'
import { conditionOf, type Resource, World } from './support/world.ts'

type Spec = Record<string, unknown>

const CONFIRM = 'culvert.dev/confirm-identity-requested-at'
const OTHER_KEY = 'key-of-another-account'
const path = 'backends/tunnel_group'
const tunnels: Spec = { type: 'TunnelGroup', tunnelGroup: {} }
const rawMetadata = '{"team":"shop"}'
const metadata = { team: 'shop' }

/**
 * Kinds with their collection, and their tags; with `rawMetadata` the CR knows its object by an annotation, else by the
 * marker.
 */
const cloned: readonly (readonly [title: string, kind: string, path: string, spec: Spec, ...tags: 'nightly'[]])[] = [
  ['a Backend', 'Backend', path, tunnels, 'nightly'],
  ['a Backend with raw metadata', 'Backend', path, { ...tunnels, rawMetadata }],
  ['an IPPolicy', 'IPPolicy', 'ip_policies', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }],
  ['an Edge with own keys in its metadata', 'Edge', 'edges/tcp', { protocol: 'TCP', metadata }, 'nightly'],
  ['a ReservedAddress', 'ReservedAddress', 'reserved_addrs', {}, 'nightly'],
]

/** What `kubectl get -o yaml` shows of it, under another name and without its status. */
async function clone(world: World, { kind, metadata: found, spec }: Resource, name: string): Promise<void> {
  const { annotations, labels, finalizers } = found
  expect(annotations).toHaveProperty(['internal.culvert.dev/create-attempt'])
  await world.apply(kind, name, spec, { annotations, labels, finalizers })
}

for (const [title, kind, at, spec, ...tags] of cloned) {
  test(`a clone of ${title} gets its own object and leaves the original’s alone`, { tags }, async () => {
    await using world = await World.open()
    await world.apply(kind, 'original', spec)
    const { id } = (await world.ready(kind, 'original')).status ?? {}
    const before = await world.api.get(`/${at}/${id}`)
    await clone(world, (await world.get(kind, 'original')) as Resource, 'clone')
    const copy = await world.ready(kind, 'clone')
    expect(copy.status?.id).not.toBe(id)
    expect(new Set((await world.remote(at)).map((object) => object.id))).toEqual(new Set([id, copy.status?.id]))
    const mark = world.mark()
    await world.resync()
    expect(world.writes(mark)).toEqual([])

    await world.delete(kind, 'clone')
    await world.gone(kind, 'clone')
    await world.resync()
    expect((await world.ready(kind, 'original')).status?.id).toBe(id)
    expect((await world.remote(at)).map((object) => object.id)).toEqual([id])
    expect(await world.api.get(`/${at}/${id}`)).toMatchObject({ status: 200, body: before.body })
  })
}

/** Backends whose account is about to be confused with another one. */
async function openWithTwoAccounts(): Promise<World> {
  const world = await World.open()
  world.emulator.admin.seed({ accounts: [{ name: 'another', apiKey: OTHER_KEY }] })
  for (const name of ['first', 'second']) await world.apply('Backend', name, tunnels)
  for (const name of ['first', 'second']) await world.ready('Backend', name)
  return world
}

/** Nothing is written with either key, whatever is asked for meanwhile. */
async function expectNothingMoves(world: World, mark: number): Promise<void> {
  const { message } = await world.reason('Account', 'default', 'Ready', 'IdentityUnproven')
  expect(message).toContain(CONFIRM)
  expect(message).not.toContain(OTHER_KEY)
  await world.apply('Backend', 'newcomer', tunnels)
  await world.delete('Backend', 'second')
  for (const name of ['newcomer', 'second']) await world.reason('Backend', name, 'Ready', 'IdentityUnproven')
  await world.resync()
  await world.resync()
  expect(conditionOf(await world.get('Account', 'default'), 'Ready')?.reason).toBe('IdentityUnproven')
  expect(world.writes(mark)).toEqual([])
  expect(await world.get('Backend', 'second')).toMatchObject({ metadata: { finalizers: ['culvert.dev/remote'] } })
}

/** Swaps the key while the operator runs, or while it does not. */
async function swapKey(world: World, when: string): Promise<void> {
  if (when === 'running') {
    await world.setKey(OTHER_KEY)
    return
  }
  await world.operator.stop()
  await world.setKey(OTHER_KEY)
  await world.startOperator()
}

for (const [when, ...tags] of [['running'], ['down', 'nightly']] as const) {
  test(`a key of another account, set while the operator is ${when}, stops everything until the right one is back`, {
    tags,
  }, async () => {
    await using world = await openWithTwoAccounts()
    const before = await world.remote(path)
    const { id } = (await world.get('Backend', 'first'))?.status ?? {}
    const mark = world.mark()
    await swapKey(world, when)
    await expectNothingMoves(world, mark)

    await world.setKey(world.emulator.apiKey)
    await world.ready('Account', 'default')
    await world.ready('Backend', 'newcomer')
    await world.gone('Backend', 'second')
    expect((await world.ready('Backend', 'first')).status?.id).toBe(id)
    expect(await world.remote(path)).toContainEqual(before.find((object) => object.id === id))
    expect(new Set(world.writes(mark).map(({ method, account }) => `${method} ${account}`))).toEqual(
      new Set([`POST ${world.emulator.admin.account}`, `DELETE ${world.emulator.admin.account}`]),
    )
  })
}

for (const [when, ...tags] of [['down'], ['running', 'nightly']] as const) {
  test(`a key of another account, set while the operator is ${when}, is used once an administrator confirms it`, {
    tags,
  }, async () => {
    await using world = await openWithTwoAccounts()
    const left = await world.remote(path)
    const mark = world.mark()
    await swapKey(world, when)
    await expectNothingMoves(world, mark)

    await world.annotate('Account', 'default', { [CONFIRM]: 'we moved' })
    await world.ready('Account', 'default')
    for (const name of ['first', 'newcomer']) await world.ready('Backend', name)
    await world.gone('Backend', 'second')
    // All of it is in the other account, and what was in the first stays there.
    expect(await world.remote(path)).toEqual(left)
    const { admin } = world.emulator
    const made = world.writes(mark).filter(({ method }) => method === 'POST')
    expect(made).toHaveLength(2)
    expect(made.every(({ account }) => account !== null && account !== admin.account)).toBe(true)
  })
}

test('an object whose resource is gone is reported, not deleted', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'forgotten', { ...tunnels, deletionPolicy: 'Retain' })
  const { id } = (await world.ready('Backend', 'forgotten')).status ?? {}
  await world.delete('Backend', 'forgotten')
  await world.gone('Backend', 'forgotten')
  await world.apply('Backend', 'other', tunnels)
  await world.ready('Backend', 'other')
  await world.resync()
  const orphan = { collection: path, id, kind: 'Backend', namespace: world.namespace, name: 'forgotten' }
  const account = await world.until('Account', 'default', 'reports it', ({ status }) => status?.orphanCount === 1)
  expect(account.status?.orphans).toEqual([orphan])
  expect(await world.operator.metric('culvert_orphans', 'account="Account')).toBe(1)
  const mark = world.mark()
  await world.resync()
  expect(world.writes(mark)).toEqual([])

  // Somebody clears up.
  await world.api.delete(`/${path}/${id}`)
  await world.resync()
  await world.until('Account', 'default', 'reports it no more', ({ status }) => status?.orphanCount === 0)
  expect(await world.operator.metric('culvert_orphans', 'account="Account')).toBe(0)
})

test.each([
  ['Backend', path, tunnels],
  ['IPPolicy', 'ip_policies', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }],
] as const)(
  'a copy of the object of a %s is deleted by the next resync, and the original stays',
  async (kind, at, spec) => {
    await using world = await World.open()
    await world.apply(kind, 'shop', spec)
    const { id } = (await world.ready(kind, 'shop')).status ?? {}
    const { body } = await world.api.get(`/${at}/${id}`)
    const copy = await world.api.create(`/${at}`, { metadata: body.metadata })
    const mark = world.mark()
    await world.resync()
    await until('the copy is gone', async () => (await world.remote(at)).length === 1)
    expect((await world.remote(at)).map((object) => object.id)).toEqual([id])
    expect(world.writes(mark).map(({ method, path: where }) => `${method} ${where}`)).toEqual([`DELETE /${at}/${copy}`])
    const told = async () => (await world.events(kind, 'shop')).find(({ reason }) => reason === 'CopyDeleted')
    expect((await until('it is reported', told)).note).toContain(copy)
    expect((await world.ready(kind, 'shop')).status?.id).toBe(id)
  },
)
