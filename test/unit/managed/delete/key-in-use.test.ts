import { expect, test } from 'vitest'
import { ModelWorld } from '../../../builders/model-world.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

function readyOf(world: ModelWorld, kind: string, name: string) {
  return world.get(kind, name)?.status?.conditions?.find(({ type }) => type === 'Ready')
}

function isReady(world: ModelWorld, kind: string, name: string): boolean {
  const { status } = world.get(kind, name) ?? {}
  const observed = status?.observedGeneration === world.get(kind, name)?.metadata.generation
  return (
    observed &&
    ['Ready', 'Synced'].every((type) => {
      return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True')
    })
  )
}

/** An Account whose only key is that of APIKey/ci, with two backends. */
async function withOwnKey(owner?: string): Promise<ModelWorld> {
  const world = ModelWorld.start()
  if (owner !== undefined) world.apply('BotUser', owner, { displayName: 'Deploy' })
  world.apply('APIKey', 'ci', owner === undefined ? {} : { owner: { botUserRef: { name: owner } } })
  for (const name of ['web-0', 'web-1']) world.apply('Backend', name, tunnels)
  await world.until('Ready', () =>
    ['ci', 'web-0'].every((name, at) => isReady(world, ['APIKey', 'Backend'][at] ?? '', name)),
  )
  world.patchAccount({ spec: { apiKeySecretRef: { name: 'ci', key: 'token' } } })
  await world.clock.advance(2_000)
  world.keys.clear()
  await world.clock.advance(120_000)
  expect(accountReady(world)).toBe('True')
  return world
}

function accountReady(world: ModelWorld): string | undefined {
  return world.accountResource?.status?.conditions?.find(({ type }) => type === 'Ready')?.status
}

test('the key that an Account works with stays as long as other resources need the Account, and says for whom', async () => {
  const world = await withOwnKey()
  world.delete('APIKey', 'ci')
  await world.clock.advance(300_000)
  expect(readyOf(world, 'APIKey', 'ci')).toMatchObject({
    reason: 'Deleting',
    message: expect.stringMatching(
      /^in use by Account\/default, which uses this key and is needed by Backend\/web-0: /,
    ),
  })
  world.apply('Backend', 'web-0', { ...tunnels, description: 'still served' })
  await world.until('served', () => isReady(world, 'Backend', 'web-0'))
  world.keys.set('key-2', world.account)
  world.changeKey('key-2')
  world.patchAccount({ spec: { apiKeySecretRef: { name: 'key', key: 'apiKey' } } })
  await world.until('gone', () => world.get('APIKey', 'ci') === undefined, 60_000)
  expect(accountReady(world)).toBe('True')
})

test('with everything deleted at once the key goes last, and nothing is left', async () => {
  for (const withAccount of [false, true]) {
    const world = await withOwnKey()
    world.delete('APIKey', 'ci')
    for (const name of ['web-0', 'web-1']) world.delete('Backend', name)
    if (withAccount) world.deleteAccount()
    await world.until('all gone', () => world.all().length === 0, 300_000)
    expect(world.account.all()).toEqual([])
    if (withAccount) await world.until('the account gone', () => world.accountResource === undefined, 60_000)
    expect(world.bugs).toEqual([])
    world.kill()
  }
})

test('the deletion of the last key ends when its answer got lost, and when the process died that sent it', async () => {
  for (const isKilled of [false, true]) {
    const world = await withOwnKey()
    for (const name of ['web-0', 'web-1']) world.delete('Backend', name)
    await world.until('one left', () => world.all().length === 1)
    world.apiFaults.push('lost')
    const writes = world.writes.length
    world.delete('APIKey', 'ci')
    await world.until('sent', () => world.writes.slice(writes).includes('DELETE api_keys'))
    if (isKilled) {
      world.kill()
      await world.clock.advance(2_000)
      world.startOperator()
    }
    await world.until('all gone', () => world.all().length === 0, 600_000)
    expect(world.account.all()).toEqual([])
    world.kill()
  }
})

test('a key that the API refuses for a moment is not taken for deleted', async () => {
  const world = await withOwnKey()
  for (const name of ['web-0', 'web-1']) world.delete('Backend', name)
  await world.until('one left', () => world.all().length === 1)
  const [key] = world.account.all()
  world.refusedKeys.add(key?.object.id ?? '')
  await world.until('refused', () => accountReady(world) === 'False')
  world.delete('APIKey', 'ci')
  await world.clock.advance(30_000)
  expect(world.get('APIKey', 'ci')).toBeDefined()
  world.refusedKeys.clear()
  await world.until('all gone', () => world.all().length === 0, 300_000)
  expect(world.account.all()).toEqual([])
})

test('a bot that owns the key that an Account works with is not turned off', async () => {
  const world = await withOwnKey('deploy')
  const [bot] = world.account.list('bot_users')
  const isActive = () => world.account.get('bot_users', bot?.id ?? '')?.active
  world.apply('BotUser', 'deploy', { displayName: 'Deploy', active: false })
  await world.until('refused', () => {
    return world.get('BotUser', 'deploy')?.status?.conditions?.some(({ reason }) => reason === 'InvalidSpec') ?? false
  })
  expect(isActive()).toBe(true)
  world.keys.set('key-2', world.account)
  world.changeKey('key-2')
  world.patchAccount({ spec: { apiKeySecretRef: { name: 'key', key: 'apiKey' } } })
  await world.until('off', () => isActive() === false, 60_000)
  world.apply('BotUser', 'deploy', { displayName: 'Deploy', active: true })
  await world.until('on', () => isActive() === true, 60_000)
})

test('a key and the bot that owns it wait for each other, which the key says last, with a way out that helps', async () => {
  const world = await withOwnKey('deploy')
  world.deleteAccount()
  for (const { kind, metadata } of world.all()) world.delete(kind, metadata.name)
  const saidOf = () => readyOf(world, 'APIKey', 'ci')?.message ?? ''
  await world.until('only two left', () => world.all().length === 2)
  await world.until('said', () => saidOf().includes('spec.deletionPolicy: Retain on BotUser/deploy'))
  await world.clock.advance(300_000)
  expect(world.account.list('api_keys')).toHaveLength(1)
  const { writes, events } = world
  const before = [writes.length, events.length]
  await world.clock.advance(300_000)
  expect([writes.length, events.length]).toEqual(before)
  world.patch('BotUser', 'deploy', { spec: { deletionPolicy: 'Retain' } })
  await world.until('all gone', () => world.all().length === 0, 300_000)
  expect([world.account.list('api_keys'), world.account.list('bot_users')]).toMatchObject([[], [{ name: 'Deploy' }]])
  await world.until('the account gone', () => world.accountResource === undefined, 60_000)
})
