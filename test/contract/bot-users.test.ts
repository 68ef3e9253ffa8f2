import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient, expectRefusal } from '../builders/contract/api-client.ts'
import { createMinimal, minimalBody } from '../builders/contract/samples.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { collectionAt } from './facts/all.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

test.each(['api_keys', 'credentials', 'ssh_credentials'])(`${stated('in-use.bot')}: %s`, async (path) => {
  const bot = await createMinimal(world, 'bot_users')
  const { body } = await minimalBody(world, collectionAt(path))
  const owned = await world.api.create(path, { ...body, owner_id: bot.id })
  expectRefusal(await world.api.call('DELETE', `/bot_users/${bot.id}`), 409, owned.id)
  await world.api.remove(`/${path}/${owned.id}`)
  await world.api.remove(`/bot_users/${bot.id}`)
  expectRefusal(await world.api.call('POST', `/${path}`, { body: { ...body, owner_id: bot.id } }), 400, bot.id)
})

test('the refusal to delete a bot user names everything that it owns', async () => {
  const bot = await createMinimal(world, 'bot_users')
  const owned = []
  for (const path of ['api_keys', 'credentials', 'ssh_credentials']) {
    const { body } = await minimalBody(world, collectionAt(path))
    owned.push(await world.api.create(path, { ...body, owner_id: bot.id }))
  }
  const answer = await world.api.call('DELETE', `/bot_users/${bot.id}`)
  expectRefusal(answer, 409, ...owned.map(({ id }) => id))
})

test(stated('auth.inactive-bot'), async () => {
  const bot = await world.api.create('bot_users', { name: 'sleeper' })
  const key = await world.api.create('api_keys', { owner_id: bot.id })
  const asBot = new ApiClient(world.url, String(key.token))
  const { id } = await asBot.create('ip_policies', {})
  await world.api.update('bot_users', bot.id, { active: false })
  for (const method of ['GET', 'DELETE'] as const) expectRefusal(await asBot.call(method, `/ip_policies/${id}`), 403)
  // It must not activate itself either.
  expectRefusal(await asBot.call('PATCH', `/bot_users/${bot.id}`, { body: { active: true } }), 403)
  expect((await world.api.get('ip_policies', id)).id).toBe(id)
  await world.api.update('bot_users', bot.id, { active: true })
  await asBot.remove(`/ip_policies/${id}`)
})

test('a key of a bot user that was created inactive is refused from the start', async () => {
  const bot = await world.api.create('bot_users', { name: 'sleeper', active: false })
  const key = await world.api.create('api_keys', { owner_id: bot.id })
  expectRefusal(await new ApiClient(world.url, String(key.token)).call('GET', '/ip_policies'), 403)
})

test('the name of a bot user is not empty, and two bots may share one', async () => {
  expectRefusal(await world.api.call('POST', '/bot_users', { body: { name: '' } }), 400, 'name')
  const [one, two] = [
    await world.api.create('bot_users', { name: 'twin' }),
    await world.api.create('bot_users', { name: 'twin' }),
  ]
  expect(one.id).not.toBe(two.id)
})
