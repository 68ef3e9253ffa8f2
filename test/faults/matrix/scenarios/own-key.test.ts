import { expect, test } from 'vitest'
import { secretType } from '../../../../src/kube/core-types.ts'
import { KEY } from '../../simulation/api-server.ts'
import type { Fault, Trouble } from '../../simulation/faults.ts'
import {
  annotateAccount,
  begin,
  conditionOf,
  countOf,
  eventsOf,
  ready,
  type Scene,
  secretOf,
} from '../../simulation/scenario.ts'
import { either, faults, refusal, refusingKeys } from '../../simulation/shaped-answers.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'
import { befalls } from '../../simulation/writes.ts'
import { RotationWatch } from './rotation-watch.ts'

/** Accounts that use a key which is a resource of their own. */

const REQUEST = 'culvert.dev/rotate-requested-at'
const PAUSED = 'culvert.dev/paused'
const SECRET = { namespace: NAMESPACE, name: 'ci' }
const ROTATION = { rotation: { interval: '1h', overlap: '1s' } }

type Watched = Scene & { readonly watch: RotationWatch }

/** The Account uses the key that it rotates itself; its first key is gone. */
async function selfRotating(): Promise<Watched> {
  const scene = await begin(['APIKey'])
  const { world } = scene
  const watch = await RotationWatch.watch(world, 'APIKey')
  world.apply('APIKey', 'ci', ROTATION)
  await ready(world, 'APIKey', 'ci')
  world.editAccount({ apiKeySecretRef: { name: 'ci', key: 'token' } })
  await world.advance(2000)
  world.trouble = refusingKeys(KEY)
  return { ...scene, watch }
}

const accountReady = (world: SimulatedWorld) => conditionOf(world.account, 'Ready')

/** What befalls a write. Not twice by an intermediary: that makes a third object for a moment, which is unavoidable. */
const hurts: readonly (readonly [title: string, fault: Fault])[] = [
  ['the process dies before it', { type: 'kill', when: 'before' }],
  ['the process dies after it', { type: 'kill', when: 'after' }],
  ['the process dies with its answer', { type: 'kill', when: 'answered' }],
  ['its answer is lost', faults.lost],
  ['it is late', faults.late],
  ['it never arrives', faults.unsent],
  ['the server fails', faults.broken],
  ['it is refused', faults.refused],
]
/** Writes of a rotation, to either server. */
const WRITES = [0, 1, 2, 3, 4, 5, 6]

test.each(hurts)(
  'an Account that rotates its own key is never locked out, whichever write of a rotation it is: %s',
  async (_title, fault) => {
    for (const at of WRITES) {
      const { world, oracle, watch } = await selfRotating()
      const first = watch.opened
      const hit = befalls([{ at, fault }])
      world.trouble = either(refusingKeys(KEY), hit)
      world.annotate('APIKey', 'ci', { [REQUEST]: 'now' })
      await world.advance(720_000)
      expect(hit.unspent(), `write ${at}`).toEqual([])
      expect(oracle.violations, `write ${at}`).toEqual([])
      expect(watch.opened, `write ${at}`).not.toBe(first)
      watch.expectAtRest()
      expect(accountReady(world)?.status).toBe('True')
    }
  },
)

test('the key that an Account works with is deleted only when the API has taken the next one, also by another process', async () => {
  const { world, watch } = await selfRotating()
  const first = watch.opened
  const token = secretOf(world, 'ci')?.token
  // From now on the API takes no new key.
  const onlyFirst: Trouble = {
    request: ({ server, headers }) => {
      const isRefused = server === 'api' && headers.authorization !== `Bearer ${token}`
      return isRefused ? { type: 'answer', when: 'before', answer: refusal(401) } : undefined
    },
  }
  world.trouble = onlyFirst
  world.annotate('APIKey', 'ci', { [REQUEST]: 'now' })
  await world.advance(60_000)
  const second = watch.opened
  expect(second).not.toBe(first)
  expect(accountReady(world)).toMatchObject({ status: 'False', reason: 'Unauthorized' })
  expect(watch.ids).toEqual([second, first])
  world.down()
  world.up()
  await world.advance(60_000)
  expect(watch.ids).toEqual([second, first])
  world.trouble = refusingKeys(KEY)
  await world.advance(120_000)
  expect(accountReady(world)?.status).toBe('True')
  expect(watch.ids).toEqual([second])
  expect(watch.violations).toEqual([])
})

test('the key of an Account that is paused stays, since it continues working with it, and an Event says so once', async () => {
  const { world, watch } = await selfRotating()
  const first = watch.opened
  annotateAccount(world, PAUSED, 'true')
  await world.advance(1000)
  world.annotate('APIKey', 'ci', { [REQUEST]: 'now' })
  await world.advance(120_000)
  // The Account continues with the former key, which therefore stays.
  expect(watch.ids).toEqual([watch.opened, first])
  expect(countOf(eventsOf(world), 'APIKey/ci FormerKept')).toBe(1)
  annotateAccount(world, PAUSED, null)
  await world.advance(60_000)
  expect(watch.ids).toEqual([watch.opened])
})

test('an adopted key that may be an Account’s own is not deleted before the Account works with one that is known', async () => {
  const { world } = await begin(['APIKey'])
  const watch = await RotationWatch.watch(world, 'APIKey')
  // The Account uses a key made by hand, which is now adopted.
  const { id, token } = await world.api.ask('POST', '/api_keys', { metadata: 'by hand' })
  world.putSecret('key', { apiKey: String(token) })
  await world.advance(2000)
  world.trouble = refusingKeys(KEY)
  const adopting = { externalID: id, managementPolicy: 'Manage', deletionPolicy: 'Delete' }
  const spec = { ...adopting, rotation: { interval: '720h', overlap: '1s' } }
  world.apply('APIKey', 'ci', spec, { annotations: { [REQUEST]: 'now' } })
  await world.advance(120_000)
  expect(watch.ids).toEqual([watch.opened, id])
  expect(accountReady(world)?.status).toBe('True')
  world.editAccount({ apiKeySecretRef: { name: 'ci', key: 'token' } })
  await world.advance(60_000)
  expect(watch.ids).toEqual([watch.opened])
  expect(accountReady(world)?.status).toBe('True')
  expect(secretOf(world, 'ci')).toBeDefined()
})

test.each([
  ['deleted', ({ kube }: SimulatedWorld) => kube.delete(secretType, SECRET)],
  ['altered', (world: SimulatedWorld) => world.putSecret('ci', { token: 'altered' })],
])(
  'an Account whose own key is %s in the Secret continues with the last one that worked, until another is issued',
  async (_how, meddle) => {
    const { world, watch } = await selfRotating()
    const first = watch.opened
    // Without an operator, no session with the last key is left.
    world.down()
    meddle(world)
    world.up()
    await world.advance(120_000)
    expect(accountReady(world)?.status).toBe('True')
    expect(watch.opened).not.toBe(first)
    expect(watch.ids).toEqual([watch.opened])
    expect(world.get('APIKey', 'ci')?.status).toMatchObject({ id: watch.opened })
  },
)

test('a key that somebody puts into a Secret of their own counts, whatever an APIKey would like to issue there', async () => {
  const { world } = await begin(['APIKey'])
  await world.advance(2000)
  // Named by an APIKey that may not have it.
  world.apply('APIKey', 'ci', { output: { secret: { name: 'key', key: 'apiKey' } } })
  await world.advance(2000)
  const { token } = await world.api.ask('POST', '/api_keys', {})
  world.putSecret('key', { apiKey: String(token) })
  await world.advance(2000)
  world.trouble = refusingKeys(KEY)
  await world.advance(120_000)
  expect(accountReady(world)?.status).toBe('True')
})
