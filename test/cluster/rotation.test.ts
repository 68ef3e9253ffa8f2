import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { EmulatorClient } from '../builders/emulator-client.ts'
import { openedBy, tokenOf } from './support/tokens.ts'
import { until } from './support/wait.ts'
import { conditionOf, type Resource, World } from './support/world.ts'

const timeout = 300_000
const REQUEST = 'culvert.dev/rotate-requested-at'

/** Somebody who works with a token: reads it from its Secret each time, and uses it at once. */
class TokenClient implements AsyncDisposable {
  readonly failures: string[] = []
  /** Tokens that it has worked with, in order. */
  readonly tokens: string[] = []
  readonly #world: World
  readonly #resource: Resource
  readonly #stop = new AbortController()
  readonly #done: Promise<void>

  constructor(world: World, resource: Resource) {
    this.#world = world
    this.#resource = resource
    this.#done = this.#work()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  /** Waits until it has worked with `count` more tokens. */
  async more(count: number): Promise<void> {
    const goal = this.tokens.length + count
    await until(`${this.#resource.kind} has given ${count} more tokens`, () => this.tokens.length >= goal, {
      timeoutMs: 90_000,
      describe: async () => [
        this.tokens.length,
        await this.#world.get(this.#resource.kind, this.#resource.metadata.name),
        this.#world.operator.log.split('\n').slice(-20),
      ],
    })
  }

  async #work(): Promise<void> {
    const { kind } = this.#resource
    while (!this.#stop.signal.aborted) {
      const token = await tokenOf(this.#world, this.#resource)
      if ((await openedWith(this.#world, kind, token)) === false) this.failures.push(`${this.tokens.length}: ${token}`)
      if (this.tokens.at(-1) !== token) this.tokens.push(token)
      await sleep(20)
    }
  }
}

async function openedWith(world: World, kind: string, token: string): Promise<boolean> {
  if (kind !== 'APIKey') return (await openedBy(world, kind, token)) !== undefined
  return (await new EmulatorClient(world.emulator.url, token).get('/ip_policies')).status === 200
}

for (const [kind, path] of [
  ['APIKey', 'api_keys'],
  ['TunnelCredential', 'credentials'],
] as const) {
  test(`a user of the token of a ${kind} is never refused while it is rotated and the operator is killed repeatedly`, {
    timeout,
    tags: 'nightly',
  }, async () => {
    await using world = await World.open()
    const others = (await world.remote(path)).length
    await world.apply(kind, 'ci', { rotation: { interval: '3s', overlap: '1s' } })
    const cr = await world.ready(kind, 'ci')
    await using client = new TokenClient(world, cr)
    await client.more(3)
    for (const pause of [0, 700, 1500, 2300, 2900, 3100]) {
      // Somewhere between two rotations, or amid one.
      await sleep(pause)
      await world.operator.kill()
      await world.startOperator()
      await client.more(1)
    }
    await client.more(2)
    await world.apply(kind, 'ci', { rotation: { interval: '720h', overlap: '0s' } })
    await until('one is left', async () => (await world.remote(path)).length === others + 1)
    const { status } = await world.ready(kind, 'ci')
    expect(await openedBy(world, kind, await tokenOf(world, cr))).toBe(status?.id)
    expect(status?.internal?.superseded).toBeUndefined()
    expect(client.failures).toEqual([])
    expect(client.tokens.length).toBeGreaterThanOrEqual(11)
    expect(new Set(client.tokens).size).toBe(client.tokens.length)
  })
}

test('an Account that rotates its own key keeps working, and no call of the operator is ever refused', {
  tags: 'nightly',
  timeout,
}, async () => {
  await using world = await World.open({ resyncInterval: '1s' })
  const rotation = { interval: '3s', overlap: '1s' }
  await world.apply('APIKey', 'own', { rotation: { interval: '720h' } })
  const cr = await world.ready('APIKey', 'own')
  await world.apply('Account', 'default', {
    baseURL: world.emulator.url,
    apiKeySecretRef: { name: 'own', key: 'token' },
    resyncInterval: '1s',
  })
  const mark = world.mark()
  await until('the operator works with its own key', () =>
    world.journal(mark).some(({ keyId }) => keyId === cr.status?.id),
  )
  await world.apply('APIKey', 'own', { rotation })
  await using client = new TokenClient(world, cr)
  await client.more(3)
  await world.operator.kill()
  await world.startOperator()
  await client.more(3)
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.ready('IPPolicy', 'office')
  await world.apply('APIKey', 'own', { rotation: { interval: '720h', overlap: '0s' } })
  await until('one is left', async () => {
    const keys = (await world.remote('api_keys')).map(({ id }) => id)
    const { status } = (await world.get('APIKey', 'own')) ?? {}
    return status?.internal?.superseded === undefined && keys.includes(status?.id) && keys.length === 2
  })
  await world.ready('APIKey', 'own')
  expect(client.failures).toEqual([])
  expect(world.journal(mark).filter(({ status }) => status === 401)).toEqual([])
  expect(conditionOf(await world.get('Account', 'default'), 'Ready')?.status).toBe('True')
})

test('a rotation that the API refuses shows in a condition and an Event; a request retries it immediately', async () => {
  await using world = await World.open()
  await world.apply('APIKey', 'ci', {})
  const before = await world.ready('APIKey', 'ci')
  const token = await tokenOf(world, before)
  const match = { method: 'POST', path: '/api_keys', every: true }
  const body = { error_code: 'ERR_1', status_code: 400, msg: 'the quota is used up', details: {} }
  const fault = world.emulator.admin.addFault({ match, act: { type: 'status', status: 400, body } })
  await world.annotate('APIKey', 'ci', { [REQUEST]: 'one' })
  const failing = await world.reason('APIKey', 'ci', 'Rotated', 'RotationFailing')
  expect(failing).toMatchObject({ status: 'False' })
  expect(failing.message).toContain('the token in the Secret goes on working')
  expect(conditionOf(await world.get('APIKey', 'ci'), 'Ready')?.status).toBe('True')
  expect(await openedBy(world, 'APIKey', token)).toBe(before.status?.id)
  await until('an Event says so', async () => {
    return (await world.events('APIKey', 'ci')).some(
      ({ reason, type }) => reason === 'RotationFailing' && type === 'Warning',
    )
  })
  const metric = () => world.operator.metric('culvert_renewal_failing', 'kind="APIKey"', 'name="ci"')
  expect(await metric()).toBe(1)
  world.emulator.admin.deleteFault(fault.id)
  await world.annotate('APIKey', 'ci', { [REQUEST]: 'two' })
  const after = await world.until('APIKey', 'ci', 'has answered', ({ status }) => status?.lastHandledRotateAt === 'two')
  expect(after.status?.id).not.toBe(before.status?.id)
  expect(await openedBy(world, 'APIKey', await tokenOf(world, after))).toBe(after.status?.id)
  await until('the metric says that it does not fail any more', async () => (await metric()) === 0)
  // The former one works on for the overlap that counts where the spec names none.
  expect(await openedBy(world, 'APIKey', token)).toBe(before.status?.id)
})
