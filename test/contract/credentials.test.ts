import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient, expectRefusal, objectIn, type Resource } from '../builders/contract/api-client.ts'
import { createMinimal, minimalBody } from '../builders/contract/samples.ts'
import { hardwareKeys, sshKeys } from '../builders/contract/ssh-keys.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { collectionAt } from './facts/all.ts'
import { stated } from './facts/rules/all.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const adminHeaders = (): Record<string, string> => ({
  Authorization: `Bearer ${world.adminToken}`,
  'Content-Type': 'application/json',
})

/** The admin surface's answer for a token: status, and the id if it is known. */
async function verify(body: unknown): Promise<{ readonly status: number; readonly id: unknown }> {
  const response = await fetch(`${world.url}/_emulator/credentials/verify`, {
    method: 'POST',
    headers: adminHeaders(),
    body: JSON.stringify(body),
  })
  return { status: response.status, id: ((await response.json()) as { id?: unknown }).id }
}

test(stated('credentials.token-shown-once'), async () => {
  const credential = await world.api.create('credentials', {})
  expect(credential.token).toMatch(/^\S{20,}$/)
  expect((await world.api.get('credentials', credential.id)).token).toBeNull()
  expect((await world.api.update('credentials', credential.id, { description: 'changed' })).token).toBeNull()
  for (const listed of await world.api.all('/credentials', 'credentials')) expect(listed.token).toBeNull()
  expect((await world.api.create('credentials', {})).token).not.toBe(credential.token)
})

test(stated('credentials.token-hashed'), async () => {
  const { token } = await world.api.create('credentials', {})
  expect((await verify({ token })).status).toBe(200)
  for (const path of ['/snapshot', '/journal']) {
    const text = await (await fetch(`${world.url}/_emulator${path}`, { headers: adminHeaders() })).text()
    expect(text).toContain('credentials')
    expect(text).not.toContain(String(token))
  }
})

test(stated('credentials.no-api-key'), async () => {
  const { token } = await world.api.create('credentials', {})
  expectRefusal(await new ApiClient(world.url, String(token)).call('GET', '/credentials'), 401)
})

test(stated('credentials.verified'), async () => {
  const [one, two] = [await world.api.create('credentials', {}), await world.api.create('credentials', {})]
  const { token: apiKey } = await world.api.create('api_keys', {})
  expect(await verify({ token: one.token })).toEqual({ status: 200, id: one.id })
  expect(await verify({ token: two.token })).toEqual({ status: 200, id: two.id })
  expect((await verify({ token: apiKey })).status).toBe(404)
  expect((await verify({ token: `${String(one.token)}x` })).status).toBe(404)
  for (const body of [{}, { token: 7 }, { token: '' }]) expect((await verify(body)).status).toBe(400)
  await world.api.remove(`/credentials/${one.id}`)
  expect((await verify({ token: one.token })).status).toBe(404)
  expect(await verify({ token: two.token })).toEqual({ status: 200, id: two.id })
})

describe.each(['api_keys', 'credentials', 'ssh_credentials'])('%s', (path) => {
  const create = async (api: ApiClient, owner?: string): Promise<Resource> => {
    const { body } = await minimalBody(world, collectionAt(path))
    return api.create(path, owner === undefined ? body : { ...body, owner_id: owner })
  }

  test(stated('credentials.owner'), async () => {
    const admin = await world.ownUserId()
    const bot = await createMinimal(world, 'bot_users')
    const asBot = new ApiClient(world.url, await world.admin.seedApiKey(bot.id))
    expect((await create(world.api)).owner_id).toBe(admin)
    expect((await create(world.api, bot.id)).owner_id).toBe(bot.id)
    const own = await create(asBot)
    expect(own.owner_id).toBe(bot.id)
    expect((await create(asBot, bot.id)).owner_id).toBe(bot.id)
    // The refusal does not depend on whether the other owner exists.
    const { body } = await minimalBody(world, collectionAt(path))
    for (const owner_id of [admin, `bot_${'0'.repeat(27)}`]) {
      expectRefusal(await asBot.call('POST', `/${path}`, { body: { ...body, owner_id } }), 403, 'owner_id')
    }
    // A bot may do everything else in the account.
    expect((await asBot.update(path, own.id, { description: 'mine' })).owner_id).toBe(bot.id)
    await asBot.remove(`/${path}/${own.id}`)
  })

  test('an owner that does not exist is a 400 naming field and id', async () => {
    const { body } = await minimalBody(world, collectionAt(path))
    for (const owner_id of [`bot_${'0'.repeat(27)}`, (await createMinimal(world, 'ip_policies')).id]) {
      const answer = await world.api.call('POST', `/${path}`, { body: { ...body, owner_id } })
      expectRefusal(answer, 400, 'owner_id', owner_id)
    }
  })
})

describe.each(['credentials', 'ssh_credentials'])('the ACL of %s', (path) => {
  const create = async (acl: unknown) => {
    const { body } = await minimalBody(world, collectionAt(path))
    return world.api.call('POST', `/${path}`, { body: { ...body, acl } })
  }

  test(stated('acl.kinds'), async () => {
    const acl = [
      'bind:app.tunnel.example',
      'bind:*.App.Example.ORG',
      'bind:1.tcp.tunnel.example:20000',
      'bind:192.0.2.7:20000',
      'bind:*.internal',
      'bind:localhost',
      'bind:[2001:db8::7]:20000',
      'bind:2001:db8::7',
      'bind:app=web',
      'bind:*=web',
      'bind:app=*',
      'bind:*=*',
      'bind:a.b/c=',
      'bind:a=b=c:1',
    ]
    for (const sent of [acl, ...acl.map((rule) => [rule]), ['*'], []]) {
      const answer = await create(sent)
      expect(answer.status, answer.text).toBe(201)
      const created = objectIn(answer) as Resource
      expect(created.acl).toEqual(sent)
      expect((await world.api.get(path, created.id)).acl).toEqual(sent)
    }
  })

  test(stated('acl.rules'), async () => {
    const kept = objectIn(await create(['bind:app=web'])) as Resource
    const bad = [
      '',
      'bind',
      'bind:',
      'bind:*',
      'bind:*.',
      'bind:[2001:db8::7]',
      'bind:under_score.example.org',
      'bind:a.*.example.org',
      'bind:*app.example.org',
      'bind:example.org:',
      'bind:example.org:0',
      'bind:example.org:65536',
      'bind:example.org:http',
      'bind:*.example.org:443',
      'bind:=web',
      'bind: example.org',
      ' bind:example.org',
      'BIND:example.org',
      'allow:example.org',
      'example.org',
      '**',
    ]
    for (const rule of bad) {
      expectRefusal(await create(['bind:app=web', rule]), 400, 'acl[1]', JSON.stringify(rule))
      const change = await world.api.call('PATCH', `/${path}/${kept.id}`, { body: { acl: [rule] } })
      expectRefusal(change, 400, 'acl[0]', JSON.stringify(rule))
    }
    expect((await world.api.get(path, kept.id)).acl).toEqual(['bind:app=web'])
  })

  test(stated('acl.star-alone'), async () => {
    for (const acl of [
      ['*', 'bind:app=web'],
      ['bind:app=web', '*'],
      ['*', '*'],
    ]) {
      expectRefusal(await create(acl), 400, 'acl', '"*"')
    }
  })
})

test(stated('ssh-credentials.public-key'), async () => {
  for (const key of [
    ...Object.values(sshKeys),
    ...Object.values(hardwareKeys),
    sshKeys.ed25519.replace(' me@laptop', ''),
    `${sshKeys.rsa}\n`,
  ]) {
    expect((await world.api.create('ssh_credentials', { public_key: key })).public_key).toBe(key)
  }
  const bad = [
    '',
    'ssh-ed25519',
    'nonsense',
    sshKeys.ed25519.replace('ssh-ed25519', 'ssh-rsa'),
    sshKeys.ed25519.replace('AAAAC3', 'AAAAC4'),
    sshKeys.rsa.slice(0, 200),
    `${sshKeys.rsa}\n${sshKeys.ed25519}`,
    `command="ls" ${sshKeys.rsa}`,
  ]
  for (const public_key of bad) {
    expectRefusal(await world.api.call('POST', '/ssh_credentials', { body: { public_key } }), 400, 'public_key')
  }
})

test('an SSH credential has no token', async () => {
  const { id } = await createMinimal(world, 'ssh_credentials')
  expect(await world.api.get('ssh_credentials', id)).not.toHaveProperty('token')
})
