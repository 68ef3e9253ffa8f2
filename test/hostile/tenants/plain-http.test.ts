import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, startServer, type TestServer } from '../../builders/http-server.ts'
import { World } from '../../cluster/support/world.ts'

let world: World
/** On the administrator's list, for https. */
let listed: TestServer
/** On no list. */
let unlisted: TestServer

beforeAll(async () => {
  const open = () => startServer((_, response) => json(response, 200, {}))
  listed = await open()
  unlisted = await open()
  const wide = `*.localhost:${new URL(listed.url).port}`
  world = await World.open({
    allowHTTP: false,
    flags: [new URL(listed.url).host, wide].flatMap((host) => ['--allow-api-host', host]),
  })
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await listed.close()
  await unlisted.close()
})

const port = (url: string): string => new URL(url).port

/** The URLs to which a tenant points an Account, while plain http is allowed only for the emulator. */
const aims: readonly (readonly [what: string, url: () => string])[] = [
  ['another allowed host', () => listed.url],
  ['a name below an allowed suffix', () => `http://a.localhost:${port(listed.url)}`],
  ['a host that is not allowed', () => unlisted.url],
  ['the emulator under another name', () => `http://localhost:${port(world.emulator.url)}`],
  ['the emulator under another address', () => `http://127.0.0.2:${port(world.emulator.url)}`],
  ['the emulator mapped into IPv6', () => `http://[::ffff:127.0.0.1]:${port(world.emulator.url)}`],
  ['another port of the emulator', () => `http://127.0.0.1:${port(unlisted.url)}`],
  ['the emulator’s host without a port', () => 'http://127.0.0.1'],
  [
    'a host that hides behind the emulator’s',
    () => `http://${new URL(world.emulator.url).host}@127.0.0.1:${port(listed.url)}`,
  ],
  ['the emulator over https', () => world.emulator.url.replace('http:', 'https:')],
]

test.each(aims)('a key is sent over plain http to the emulator only, not to %s', async (what, url) => {
  const name = `aim-${aims.findIndex(([each]) => each === what)}`
  const apiKey = `key-of-${name}-aaaaaaaaaaaaaaaa`
  await world.secret(name, { apiKey })
  await world.apply('Account', name, { baseURL: url(), apiKeySecretRef: { name } })
  const { message } = await world.reason('Account', name, 'Ready', 'BaseURLNotAllowed')
  expect(message).toMatch(/baseURL/)
  expect([...listed.requests, ...unlisted.requests]).toEqual([])
  // The emulator knows only one key.
  expect(world.journal().filter(({ keyId }) => keyId === null)).toEqual([])
})

test('meanwhile the emulator’s account works over plain http', async () => {
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.ready('IPPolicy', 'office')
})
