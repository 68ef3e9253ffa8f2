import { createHmac } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemRandom } from '../../../src/util/random.ts'
import { tokenOf } from '../../cluster/support/tokens.ts'
import { core, type Resource, World } from '../../cluster/support/world.ts'
import { Viewer } from '../support/viewer.ts'

const GUESSES = 1_000_000
/** Hexadecimal digits that identify a digest: no chance match occurs in everything tried here. */
const KNOWN_BY = 12

const PIN = '482913'
const KEY = 'k482913'

/** A way to compute a digest of a guess from public information. */
type Recipe = (guess: string) => string

const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex')

/** Prefixes of everything in a text that may be a hexadecimal digest. */
function digestsIn(text: string): ReadonlySet<string> {
  const runs = text.match(/[A-Za-z0-9+/_-]+/g) ?? []
  const parts = runs.flatMap((run) => [run, ...run.split(/[/_-]/)])
  const digests = parts.flatMap((part) => [part, Buffer.from(part, 'base64').toString('hex')])
  return new Set(digests.filter((text) => text.length >= KNOWN_BY).map((text) => text.slice(0, KNOWN_BY)))
}

/** Guesses whose digest by one of the recipes is visible. */
async function told(
  seen: ReadonlySet<string>,
  guessAt: (index: number) => string,
  recipes: readonly Recipe[],
): Promise<readonly string[]> {
  const found: string[] = []
  for (let index = 0; index < GUESSES; index++) {
    // The worker must answer its runner now and then.
    if (index % 20_000 === 0) await setImmediate()
    const guess = guessAt(index)
    if (recipes.some((recipe) => seen.has(recipe(guess).slice(0, KNOWN_BY)))) found.push(guess)
  }
  return found
}

const sixDigits = (index: number): string => String(index).padStart(6, '0')

/** A world with a PIN, a short key and tokens, everything that a viewer sees of it, and its metrics. */
async function view(world: World) {
  await world.secret('inputs', { pin: PIN })
  const ref = { name: 'inputs', key: 'pin' }
  await world.apply('EventDestination', 'events', { type: 'Monitor', monitor: { apiKeySecretRef: ref } })
  await world.apply('APIKey', 'ci', { rotation: { interval: '720h', overlap: '1h' } })
  // Without a marker: its annotation is sealed.
  await world.apply('Backend', 'raw', { type: 'TunnelGroup', tunnelGroup: {}, rawMetadata: 'my own' })
  const destination = await world.ready('EventDestination', 'events')
  const account = await world.ready('Account', 'default')
  await world.ready('Backend', 'raw')
  const issued = await world.ready('APIKey', 'ci')
  const tokens = [await tokenOf(world, issued)]
  await world.annotate('APIKey', 'ci', { 'culvert.dev/rotate-requested-at': 'now' })
  const rotated = await world.until('APIKey', 'ci', 'has another key', (cr) => {
    return cr.status?.id !== issued.status?.id && cr.status?.lastHandledRotateAt === 'now'
  })
  tokens.push(await tokenOf(world, rotated))
  await using viewer = await Viewer.create(world)
  const seen = digestsIn(`${await viewer.sees()} ${await world.operator.metrics()}`)
  return { seen, destination, account, tokens, ids: [idOf(issued), idOf(rotated)] }
}

function idOf({ status }: Resource): string {
  return status?.id ?? ''
}

test('a viewer of a namespace cannot pick a PIN, a short key or a token out of a million guesses', {
  tags: 'nightly',
  timeout: 600_000,
}, async () => {
  await using world = await World.open({ emulator: { apiKey: KEY } })
  const { seen, destination, account, tokens, ids } = await view(world)
  // The digests exist, so that guesses can be tried.
  expect(destination.status?.internal?.inputsFingerprint).toMatch(/[0-9a-f]{16}$/)
  expect(seen.has(destination.status?.internal?.inputsFingerprint?.slice(0, KNOWN_BY) ?? '')).toBe(true)

  const { uid } = destination.metadata
  const inputOf = (guess: string): string => JSON.stringify([['Secret/inputs/pin', guess]])
  const ofPIN: readonly Recipe[] = [(guess) => hmac(uid, inputOf(guess))]
  expect(await told(seen, sixDigits, ofPIN), 'the PIN').toEqual([])

  const system = await world.kube.get(core('namespaces', 'Namespace', false), { name: 'kube-system' })
  const installation = `${system?.metadata.uid}/${world.operatorNamespace}/culvert`
  const raw = await world.get('Backend', 'raw')
  const sealed = raw?.metadata.annotations?.['internal.culvert.dev/id'] ?? ''
  expect(sealed.split('/')).toHaveLength(5)
  const said = sealed.slice(0, sealed.lastIndexOf('/'))
  const baseURL = String(account.spec.baseURL)
  const ofKey: readonly Recipe[] = [(guess) => hmac(installation, `${baseURL}\n${guess}`), (guess) => hmac(guess, said)]
  expect(await told(seen, (index) => `k${sixDigits(index)}`, ofKey), 'the key').toEqual([])

  const others = Array.from({ length: 1000 }, () => systemRandom.hex(24))
  const guessed = (index: number): string => tokens[index] ?? `${others[index % 1000]}${index}`
  const ofTokens: readonly Recipe[] = ids.map((id) => (guess) => hmac(id, guess))
  expect(await told(seen, guessed, ofTokens), 'a token').toEqual([])
})

test('an author who tries values in their own resources never sees another author’s fingerprint', async () => {
  await using world = await World.open()
  await world.secret('inputs', { pin: PIN })
  await world.secret('guess', { pin: PIN })
  for (const name of ['inputs', 'guess']) {
    const monitor = { apiKeySecretRef: { name, key: 'pin' } }
    await world.apply('EventDestination', name, { type: 'Monitor', monitor })
  }
  // The same Secret, too: a user who may not read it could still refer to it.
  const monitor = { apiKeySecretRef: { name: 'inputs', key: 'pin' } }
  await world.apply('EventDestination', 'same', { type: 'Monitor', monitor })
  const found: (string | undefined)[] = []
  for (const name of ['inputs', 'guess', 'same']) {
    found.push((await world.ready('EventDestination', name)).status?.internal?.inputsFingerprint)
  }
  expect(found.every((each) => each !== undefined)).toBe(true)
  expect(new Set(found).size).toBe(3)
})
