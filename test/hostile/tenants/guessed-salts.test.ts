// @module-tag nightly
import { createHash, createHmac } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Fingerprints } from '../../../src/managed/run/fingerprints.ts'
import { secrets } from '../../cluster/support/tokens.ts'
import { until } from '../../cluster/support/wait.ts'
import { core, World } from '../../cluster/support/world.ts'
import { notesOf, putSalt, saltKey, saltOf } from '../support/salt.ts'
import { Viewer } from '../support/viewer.ts'

/*
 * An attacker who computes the salt can try guesses. They know this code, what a viewer sees, and the ids, names and times
 * of the installation; only the value of the salt's Secret is hidden from them.
 */

const PIN = '482913'
const NOTING = [
  ['EventDestination', 'events'],
  ['APIKey', 'ci'],
  ['Account', 'default'],
] as const
const SEPARATORS = ['', '/', '\n', ':', '-']

/** A world whose statuses note a PIN, a token and the account's key, and whose operator has not started yet. */
async function openWorld(): Promise<World> {
  const world = await World.open({ operator: false })
  await world.secret('inputs', { pin: PIN })
  const monitor = { apiKeySecretRef: { name: 'inputs', key: 'pin' } }
  await world.apply('EventDestination', 'events', { type: 'Monitor', monitor })
  await world.apply('APIKey', 'ci', {})
  return world
}

/** Starts an operator, and returns what the statuses note since: all of it again. */
async function notedAnew(world: World): Promise<readonly string[]> {
  const before = await notesOf(world, NOTING)
  await world.startOperator()
  return until('all is noted again', async () => {
    const now = await notesOf(world, NOTING)
    return now.length === NOTING.length && now.every((note) => !before.includes(note)) ? now : undefined
  })
}

/** The fingerprint of the PIN under a salt. */
function printUnder(salt: Buffer, uid: string): string {
  return new Fingerprints(salt).of('inputs', uid, JSON.stringify([['Secret/inputs/pin', PIN]]))
}

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest()

/** What identifies the installation and its resources. */
async function factsOf(world: World): Promise<readonly string[]> {
  const { namespace, operatorNamespace } = world
  const uids = ['kube-system', namespace, operatorNamespace].map(async (name) => {
    return (await world.kube.get(core('namespaces', 'Namespace', false), { name }))?.metadata.uid ?? ''
  })
  const [system = '', ...others] = await Promise.all(uids)
  const resources = await Promise.all(NOTING.map(([kind, name]) => world.get(kind, name)))
  const baseURL = String(resources.at(-1)?.spec.baseURL)
  const own = resources.flatMap((cr) => [cr?.metadata.uid, cr?.metadata.creationTimestamp, cr?.status?.id])
  const installation = `${system}/${operatorNamespace}/culvert`
  const names = ['culvert', 'salt', 'default', namespace, operatorNamespace]
  const all = [...names, installation, system, ...others, baseURL, ...own]
  return [...new Set(all.filter((fact) => fact !== undefined))]
}

/** Everything in the text of objects that is a text itself. */
function textsIn(objects: string): readonly string[] {
  return [...new Set([...objects.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text))]
}

/** Up to three facts, in every order. */
function* tuplesOf(facts: readonly string[]): Generator<readonly string[]> {
  for (const first of facts) {
    yield [first]
    for (const second of facts) {
      yield [first, second]
      for (const third of facts) yield [first, second, third]
    }
  }
}

/** Salts that can be computed. A short key of an HMAC is the same as one with zeros behind it. */
function* guesses(facts: readonly string[], texts: readonly string[], times: readonly number[]): Generator<Buffer> {
  for (let byte = 0; byte < 256; byte++) yield Buffer.alloc(32, byte)
  for (const text of [...texts, ...times.map(String)]) {
    yield hashed(text)
    for (const encoding of ['utf8', 'hex', 'base64'] as const) yield Buffer.from(text, encoding)
  }
  for (const tuple of tuplesOf(facts)) {
    const [key = '', ...rest] = tuple
    for (const separator of SEPARATORS) {
      yield hashed(tuple.join(separator))
      yield Buffer.from(tuple.join(separator))
      yield createHmac('sha256', key).update(rest.join(separator)).digest()
    }
  }
}

/** Those of the fingerprints that are the PIN's under a guess. */
async function explained(shown: readonly string[], uid: string, salts: Iterable<Buffer>): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let tried = 0
  for (const salt of salts) {
    // The worker must answer its runner now and then.
    if (tried++ % 20_000 === 0) await setImmediate()
    const print = printUnder(salt, uid)
    if (shown.includes(print)) found.add(print)
  }
  return found
}

test('no salt that follows from what is public explains a fingerprint; only the one in the Secret does', {
  timeout: 300_000,
}, async () => {
  await using world = await openWorld()
  const began = Date.now()
  const notes = await notedAnew(world)
  const times = Array.from({ length: Date.now() - began }, (_, index) => began + index)
  for (const [kind, name] of NOTING) await world.ready(kind, name)
  const uid = (await world.get('EventDestination', 'events'))?.metadata.uid ?? ''
  const facts = await factsOf(world)
  await using viewer = await Viewer.create(world)
  // The attack finds a salt that is not random.
  const weak = printUnder(hashed(`${facts.at(-1)}/${uid}`), uid)

  const found = await explained([...notes, weak], uid, guesses(facts, textsIn(await viewer.sees()), times))

  expect([...found]).toEqual([weak])
  expect(notes).toContain(printUnder(await saltOf(world), uid))
})

test('fingerprints depend on the whole salt, and the same installation never makes a salt twice', async () => {
  await using world = await openWorld()
  const notes = [await notedAnew(world)]
  const salt = await saltOf(world)

  await world.operator.stop()
  const other = Buffer.from(salt)
  other[other.length - 1] = (salt.at(-1) ?? 0) ^ 1
  await putSalt(world, other)
  notes.push(await notedAnew(world))

  await world.operator.stop()
  await world.kube.delete(secrets, saltKey(world))
  notes.push(await notedAnew(world))
  const next = await saltOf(world)

  // Name of the salt, and digest.
  const parts = notes.flat().map((note) => note.split('-'))
  expect(new Set(parts.map(([name]) => name)).size).toBe(notes.length)
  expect(new Set(parts.map(([, digest]) => digest)).size).toBe(notes.length * NOTING.length)
  expect([salt.length, next.length]).toEqual([32, 32])
  // By chance a byte in 256 is the same.
  expect(salt.filter((byte, index) => next[index] === byte).length).toBeLessThan(8)
})
