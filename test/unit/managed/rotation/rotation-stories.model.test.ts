import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unresolvedAttempt } from '../../../../src/managed/cr.ts'
import { secretType } from '../../../../src/managed/inputs/inputs.ts'
import type { ApiFault } from '../../../builders/model-account-client.ts'
import type { KubeFault } from '../../../builders/model-kube-client.ts'
import { liveThrough, suffer } from '../../../builders/model-trouble.ts'
import { ModelWorld } from '../../../builders/model-world.ts'
import { RotationWatch } from '../../../builders/rotation-watch.ts'

/**
 * Without `doubled`: an intermediary that sends a create twice makes a third object for a moment, which is unavoidable.
 */
const apiFaults: readonly ApiFault[] = ['lost', 'late', 'unsent', 'broken', 'limited', 'refused']
const kubeFaults: readonly KubeFault[] = ['lost', 'unsent']
const SECRET = { namespace: 'shop', name: 'ci' }
const REQUEST = 'culvert.dev/rotate-requested-at'

const SPECS = [
  { rotation: { interval: '10s', overlap: '2s' } },
  { rotation: { interval: '3s', overlap: '1s' } },
  { rotation: { interval: '10s', overlap: '0s' } },
  { rotation: { interval: '20s' }, description: 'for CI', rawMetadata: 'mine' },
  {},
] as const

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('crash' as const), downMs: fc.constantFrom(0, 100, 3000) }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('api fault' as const), fault: fc.constantFrom(...apiFaults) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('kube fault' as const), fault: fc.constantFrom(...kubeFaults) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('apply' as const), spec: fc.nat({ max: SPECS.length - 1 }) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('request' as const), value: fc.constantFrom('a', 'b', 'c') }) },
)
type Step = (typeof step extends fc.Arbitrary<infer T> ? T : never) & { readonly thenMs: number }

const thenMs = fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 25, 60, 600, 1500, 4000, 9000, 12_000)
const stories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.tuple(step, thenMs).map(([what, pause]) => ({ ...what, thenMs: pause })),
  { minLength: 1, maxLength: 14 },
)

async function act(world: ModelWorld, what: Step): Promise<void> {
  switch (what.type) {
    case 'crash':
    case 'api fault':
    case 'kube fault':
      await suffer(world, what)
      return
    case 'apply':
      world.apply('APIKey', 'ci', SPECS[what.spec] ?? {})
      return
    case 'request':
      world.patch('APIKey', 'ci', { metadata: { annotations: { [REQUEST]: what.value } } })
  }
}

/** Plays a story, then stops rotating and waits until everything is at rest. */
async function live(world: ModelWorld, story: readonly Step[]): Promise<void> {
  await liveThrough(world, story, act)
  world.apply('APIKey', 'ci', { rotation: { interval: '1h', overlap: '1s' } })
  // The longest pause, so that requested rotations are done, plus the default overlap.
  await world.clock.advance(720_000)
}

function expectAtRest(world: ModelWorld, watch: RotationWatch): void {
  expect(watch.violations).toEqual([])
  expect(world.violations).toEqual([])
  expect(world.bugs).toEqual([])
  const cr = world.get('APIKey', 'ci')
  expect(watch.ids).toEqual([watch.opened])
  expect(cr?.status?.id).toBe(watch.opened)
  expect(cr?.status?.internal?.superseded).toBeUndefined()
  expect(cr?.status?.lastHandledRotateAt).toBe(cr?.metadata.annotations?.[REQUEST])
  expect(cr === undefined ? undefined : unresolvedAttempt(cr)).toBeUndefined()
  expect(cr?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
    'Ready=True',
    'Synced=True',
    'Rotated=True',
  ])
}

const options = { numRuns: 150, seed: 20_261_121 }

test('whatever gets lost or dies during rotations, the token in the Secret works at every moment, beside one more at most, and in the end alone', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const world = ModelWorld.start()
      const watch = new RotationWatch(world, { path: 'api_keys', secretName: 'ci', secretKey: 'token' })
      world.apply('APIKey', 'ci', SPECS[0])
      await live(world, story)
      expectAtRest(world, watch)
      world.kill()
    }),
    options,
  )
}, 120_000)

/** The Account uses the key that it rotates itself; its first key is gone. */
async function selfRotating(): Promise<{ readonly world: ModelWorld; readonly watch: RotationWatch }> {
  const world = ModelWorld.start()
  const watch = new RotationWatch(world, { path: 'api_keys', secretName: 'ci', secretKey: 'token' })
  world.apply('APIKey', 'ci', { rotation: { interval: '1h', overlap: '1s' } })
  await world.clock.advance(2000)
  world.patchAccount({ spec: { apiKeySecretRef: { name: 'ci', key: 'token' } } })
  await world.clock.advance(2000)
  world.keys.clear()
  return { world, watch }
}

const ready = (world: ModelWorld) => world.accountResource?.status?.conditions?.find(({ type }) => type === 'Ready')

test('an Account that rotates its own key is never locked out, whatever gets lost or dies', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const { world, watch } = await selfRotating()
      await live(world, story)
      expectAtRest(world, watch)
      expect(ready(world)?.status).toBe('True')
      world.kill()
    }),
    { ...options, numRuns: 75 },
  )
}, 120_000)

test('the key that an Account works with is deleted only when the API has taken the next one, also by another process', async () => {
  const { world, watch } = await selfRotating()
  const first = watch.opened
  // From now on the API creates no new key.
  const create = world.account.create
  world.account.create = (path, body) => {
    const object = create(path, body)
    world.refusedKeys.add(object.id)
    return object
  }
  world.patch('APIKey', 'ci', { metadata: { annotations: { [REQUEST]: 'now' } } })
  await world.clock.advance(60_000)
  const second = watch.opened
  expect(second).not.toBe(first)
  expect(ready(world)).toMatchObject({ status: 'False', reason: 'Unauthorized' })
  expect(watch.ids).toEqual([second, first])
  world.kill()
  world.startOperator()
  await world.clock.advance(60_000)
  expect(watch.ids).toEqual([second, first])
  world.refusedKeys.clear()
  await world.clock.advance(120_000)
  expect(ready(world)?.status).toBe('True')
  expect(watch.ids).toEqual([second])
  expect(watch.violations).toEqual([])
  world.kill()
})

test('the key of an Account that is paused stays, since it goes on working with it, and an Event says so once', async () => {
  const { world, watch } = await selfRotating()
  const first = watch.opened
  world.patchAccount({ metadata: { annotations: { 'culvert.dev/paused': 'true' } } })
  await world.clock.advance(1000)
  world.patch('APIKey', 'ci', { metadata: { annotations: { [REQUEST]: 'now' } } })
  await world.clock.advance(120_000)
  // The Account continues with the former key, which therefore stays.
  expect(watch.ids).toEqual([watch.opened, first])
  expect(world.events.filter((event) => event === 'APIKey/ci FormerKept')).toHaveLength(1)
  world.patchAccount({ metadata: { annotations: { 'culvert.dev/paused': null } } })
  await world.clock.advance(60_000)
  expect(watch.ids).toEqual([watch.opened])
  world.kill()
})

test('an adopted key that may be an Account’s own is not deleted before the Account works with one that is known', async () => {
  const world = ModelWorld.start()
  const watch = new RotationWatch(world, { path: 'api_keys', secretName: 'ci', secretKey: 'token' })
  // The Account uses a key made by hand, which is now adopted.
  const { id, token } = world.account.create('api_keys', { metadata: 'by hand' })
  world.changeKey(String(token))
  await world.clock.advance(2000)
  world.keys.clear()
  const adopting = { externalID: id, managementPolicy: 'Manage', deletionPolicy: 'Delete' }
  world.apply(
    'APIKey',
    'ci',
    { ...adopting, rotation: { interval: '720h', overlap: '1s' } },
    { annotations: { [REQUEST]: 'now' } },
  )
  await world.clock.advance(120_000)
  expect(watch.ids).toEqual([watch.opened, id])
  expect(ready(world)?.status).toBe('True')
  world.patchAccount({ spec: { apiKeySecretRef: { name: 'ci', key: 'token' } } })
  await world.clock.advance(60_000)
  expect(watch.ids).toEqual([watch.opened])
  expect(ready(world)?.status).toBe('True')
  expect(world.kube.list(secretType).items.map(({ metadata }) => metadata.name)).toContain('ci')
  world.kill()
})

test.each([
  ['deleted', (world: ModelWorld) => world.kube.delete(secretType, SECRET)],
  ['altered', (world: ModelWorld) => world.kube.mergePatch(secretType, SECRET, { data: { token: btoa('altered') } })],
])(
  'an Account whose own key is %s in the Secret goes on with the last one that worked, until another is issued',
  async (_how, meddle) => {
    const { world, watch } = await selfRotating()
    const first = watch.opened
    // Without an operator, no session with the last key is left.
    world.kill()
    meddle(world)
    world.startOperator()
    await world.clock.advance(120_000)
    expect(ready(world)?.status).toBe('True')
    expect(watch.opened).not.toBe(first)
    expect(watch.ids).toEqual([watch.opened])
    expect(world.get('APIKey', 'ci')?.status).toMatchObject({ id: watch.opened })
    world.kill()
  },
)

test('a key that somebody puts into a Secret of their own counts, whatever an APIKey would like to issue there', async () => {
  const world = ModelWorld.start()
  await world.clock.advance(2000)
  // Named by an APIKey that may not have it.
  world.apply('APIKey', 'ci', { output: { secret: { name: 'key', key: 'apiKey' } } })
  await world.clock.advance(2000)
  world.keys.set('key-2', world.account)
  world.changeKey('key-2')
  await world.clock.advance(2000)
  world.keys.delete('key-1')
  await world.clock.advance(120_000)
  expect(ready(world)?.status).toBe('True')
  world.kill()
})
