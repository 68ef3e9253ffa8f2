import { expect, test } from 'vitest'
import { KEY } from '../../simulation/api-server.ts'
import {
  begin,
  conditionOf,
  eventsOf,
  gone,
  objectsIn,
  patch,
  ready,
  reported,
  type Scene,
  secretOf,
  until,
} from '../../simulation/scenario.ts'
import { either, faults, nextWrites, refusingKeys } from '../../simulation/shaped-answers.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

/** An Account whose only key is that of APIKey/ci, with two backends. */
async function withOwnKey(owner?: string): Promise<Scene> {
  const scene = await begin(['APIKey', 'Backend', 'BotUser'])
  const { world } = scene
  if (owner !== undefined) world.apply('BotUser', owner, { displayName: 'Deploy' })
  world.apply('APIKey', 'ci', owner === undefined ? {} : { owner: { botUserRef: { name: owner } } })
  for (const name of ['web-0', 'web-1']) world.apply('Backend', name, tunnels)
  await ready(world, 'APIKey', 'ci')
  await ready(world, 'Backend', 'web-0')
  world.editAccount({ apiKeySecretRef: { name: 'ci', key: 'token' } })
  await world.advance(2_000)
  world.trouble = refusingKeys(KEY)
  await world.advance(120_000)
  expect(accountReady(world)).toBe('True')
  return scene
}

function accountReady(world: SimulatedWorld): string | undefined {
  return conditionOf(world.account, 'Ready')?.status
}

/** Gives the Account another key, made by hand, which no resource stands for. */
async function giveOtherKey(world: SimulatedWorld): Promise<void> {
  const { token } = await world.api.ask('POST', '/api_keys', { description: 'by hand' })
  world.putSecret('key', { apiKey: String(token) })
  world.editAccount({ apiKeySecretRef: { name: 'key', key: 'apiKey' } })
}

async function untilAllGone(world: SimulatedWorld, ms = 300_000): Promise<void> {
  await until(world, 'all gone', () => world.all().length === 0, ms)
}

async function everything(world: SimulatedWorld): Promise<readonly unknown[]> {
  const paths = ['api_keys', 'backends/tunnel_group', 'bot_users']
  return (await Promise.all(paths.map((path) => objectsIn(world, path)))).flat()
}

test('the key that an Account works with stays as long as other resources need the Account, and says for whom', async () => {
  const { world } = await withOwnKey()
  world.delete('APIKey', 'ci')
  await world.advance(300_000)
  expect(conditionOf(world.get('APIKey', 'ci'), 'Ready')).toMatchObject({
    reason: 'Deleting',
    message: expect.stringMatching(
      /^in use by Account\/default, which uses this key and is needed by Backend\/web-0: /,
    ),
  })
  world.apply('Backend', 'web-0', { ...tunnels, description: 'still served' })
  await ready(world, 'Backend', 'web-0')
  await giveOtherKey(world)
  await gone(world, 'APIKey', 'ci', 60_000)
  expect(accountReady(world)).toBe('True')
})

test('with everything deleted at once the key goes last, and nothing is left', async () => {
  for (const withAccount of [false, true]) {
    const { world, oracle } = await withOwnKey()
    world.delete('APIKey', 'ci')
    for (const name of ['web-0', 'web-1']) world.delete('Backend', name)
    if (withAccount) world.kube.delete(world.accountType, world.accountKey)
    await untilAllGone(world)
    expect(await everything(world)).toEqual([])
    if (withAccount) await until(world, 'the account gone', () => world.account === undefined, 60_000)
    expect(oracle.violations).toEqual([])
  }
})

test('the deletion of the last key ends when its answer got lost, and when the process died that sent it', async () => {
  for (const isKilled of [false, true]) {
    const { world, writes } = await withOwnKey()
    for (const name of ['web-0', 'web-1']) world.delete('Backend', name)
    await until(world, 'one left', () => world.all().length === 1)
    world.trouble = either(refusingKeys(KEY), nextWrites(faults.lost))
    const { length } = writes
    world.delete('APIKey', 'ci')
    await until(world, 'sent', () => writes.slice(length).includes('api DELETE /api_keys/{id}'))
    if (isKilled) {
      world.down()
      await world.advance(2_000)
      world.up()
    }
    await untilAllGone(world, 600_000)
    expect(await everything(world)).toEqual([])
  }
})

test('a key that the API refuses for a moment is not taken for deleted', async () => {
  const { world } = await withOwnKey()
  for (const name of ['web-0', 'web-1']) world.delete('Backend', name)
  await until(world, 'one left', () => world.all().length === 1)
  world.trouble = refusingKeys(KEY, secretOf(world, 'ci')?.token ?? '')
  await until(world, 'refused', () => accountReady(world) === 'False')
  world.delete('APIKey', 'ci')
  await world.advance(30_000)
  expect(world.get('APIKey', 'ci')).toBeDefined()
  world.trouble = refusingKeys(KEY)
  await untilAllGone(world)
  expect(await everything(world)).toEqual([])
})

test('a bot that owns the key that an Account works with is not turned off', async () => {
  const { world } = await withOwnKey('deploy')
  const isActive = async () => (await objectsIn(world, 'bot_users'))[0]?.active
  world.apply('BotUser', 'deploy', { displayName: 'Deploy', active: false })
  await reported(world, () => world.get('BotUser', 'deploy'), 'Synced', 'InvalidSpec')
  expect(await isActive()).toBe(true)
  await giveOtherKey(world)
  await until(world, 'off', async () => (await isActive()) === false, 60_000)
  world.apply('BotUser', 'deploy', { displayName: 'Deploy', active: true })
  await until(world, 'on', async () => (await isActive()) === true, 60_000)
})

test('a key and the bot that owns it wait for each other, which the key says last, with a way out that helps', async () => {
  const { world, writes } = await withOwnKey('deploy')
  world.kube.delete(world.accountType, world.accountKey)
  for (const { kind, metadata } of world.all()) world.delete(kind, metadata.name)
  const saidOf = () => conditionOf(world.get('APIKey', 'ci'), 'Ready')?.message ?? ''
  await until(world, 'only two left', () => world.all().length === 2)
  await until(world, 'said', () => saidOf().includes('spec.deletionPolicy: Retain on BotUser/deploy'))
  await world.advance(300_000)
  expect(await objectsIn(world, 'api_keys')).toHaveLength(1)
  const before = [writes.length, eventsOf(world).length]
  await world.advance(300_000)
  expect([writes.length, eventsOf(world).length]).toEqual(before)
  patch(world, 'BotUser', 'deploy', { spec: { deletionPolicy: 'Retain' } })
  await untilAllGone(world)
  expect(await objectsIn(world, 'api_keys')).toEqual([])
  expect(await objectsIn(world, 'bot_users')).toMatchObject([{ name: 'Deploy' }])
  await until(world, 'the account gone', () => world.account === undefined, 60_000)
})
