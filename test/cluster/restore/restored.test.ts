import { expect, test } from 'vitest'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { type Secret, secrets } from '../support/tokens.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'
import {
  type Backup,
  backUp,
  everything,
  expectAtRest,
  idIn,
  listRestored,
  oneOfEach,
  opens,
  putBack,
  putBackOutput,
  type Subject,
  takeBack,
  tokenName,
  tokensFor,
  told,
  wipe,
} from './lives.ts'

/** How the Secret of a resource comes back, and what becomes of its token. */
const SECRETS = {
  /** As backup tools put it back, without an owner. */
  'as-it-was': { reissued: false },
  /** With owner references of before: the garbage collector and the operator race for it. */
  owned: { reissued: undefined },
  /** With owner references of before, and the garbage collector has been quicker. */
  collected: { reissued: true },
  missing: { reissued: true },
  /** With the token of before a rotation, whose object is gone. */
  stale: { reissued: true },
  /** With the token of before a rotation, which still works. */
  overlapping: { reissued: false },
} as const

const titles = Object.keys(SECRETS) as (keyof typeof SECRETS)[]

function titleOf({ kind, name }: Manifest): keyof typeof SECRETS {
  return titles.find((title) => name === tokenName(kind, title)) ?? 'as-it-was'
}

/** Issues another token for those whose Secrets in a backup are to be of before that. */
async function rotate(world: World, all: readonly Subject[]): Promise<void> {
  const rotated = all.filter((subject) => ['stale', 'overlapping'].includes(titleOf(subject)))
  for (const { kind, name } of rotated) await world.annotate(kind, name, { 'culvert.dev/rotate-requested-at': 'now' })
  for (const subject of rotated) {
    const { kind, name, id, path } = subject
    await world.until(kind, name, 'has another token', ({ status }) => status?.id !== undefined && status.id !== id)
    // A request that comes back without the status that says it was answered is carried out again.
    await world.annotate(kind, name, { 'culvert.dev/rotate-requested-at': null })
    if (titleOf(subject) === 'overlapping') continue
    await until('the former one is gone', async () => (await world.api.get(`/${path}/${id}`)).status === 404)
  }
}

/**
 * Puts the Secrets back before the resources, as backup tools do; waits until the garbage collector has taken those
 * that it is to take.
 */
async function restoreOutputs(world: World, { outputs }: Backup): Promise<void> {
  const titled = ({ metadata }: Secret, title: string) => metadata.name.endsWith(`-${title}`)
  const collected = outputs.filter((output) => titled(output, 'collected'))
  for (const output of collected) await putBackOutput(world, output, true)
  await until(
    'the garbage collector has taken what nobody owns',
    async () => {
      const left = await Promise.all(
        collected.map(({ metadata: { name } }) => world.kube.get(secrets, { namespace: world.namespace, name })),
      )
      return left.every((secret) => secret === undefined)
    },
    { timeoutMs: 90_000 },
  )
  for (const output of outputs) {
    if (titled(output, 'collected') || titled(output, 'missing')) continue
    await putBackOutput(world, output, titled(output, 'owned'))
  }
}

/** Short overlaps for all but those whose former token is to work on. */
function rotationOf(title: string): Record<string, unknown> {
  return { rotation: { interval: '720h', overlap: title === 'overlapping' ? '24h' : '0s' } }
}

test('restored without status and with new UIDs, every kind recovers its object, by itself or with the remedy it reports, and its token works', {
  timeout: 120_000,
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  await tokensFor(world, titles, rotationOf)
  await oneOfEach(world)
  const before = await everything(world)
  const { outputs } = await backUp(world)
  await rotate(world, before)
  const after = await everything(world)
  const backup = { ...(await backUp(world)), outputs }
  await wipe(world, backup)
  const mark = world.mark()
  await restoreOutputs(world, backup)
  for (const cr of backup.resources) await putBack(world, cr)
  await world.startOperator()

  // What is its own by its mark it takes by itself, and issues a token where the Secret has none that works.
  for (const subject of after.filter(({ marked }) => marked)) {
    await told(world, subject, 'Recovered')
    if (subject.token && SECRETS[titleOf(subject)].reissued) await told(world, subject, 'Reissued')
  }
  // Of what carries no mark it says which object it may be, and how to have it.
  for (const subject of after.filter(({ marked }) => !marked)) {
    const { message } = await world.reason(subject.kind, subject.name, 'Ready', 'AlreadyExists')
    expect(message).toContain(`spec.externalID: ${subject.id}`)
    expect(message).toContain('spec.managementPolicy: Manage')
    await takeBack(world, subject, subject.id)
  }
  const now = await everything(world)
  for (const subject of now) {
    const { kind, name, id, token } = subject
    const about = `${kind}/${name}`
    const title = titleOf(subject)
    const expected = idIn(title === 'overlapping' ? before : after, subject)
    const { reissued } = token ? SECRETS[title] : { reissued: false }
    if (reissued) expect(id, about).not.toBe(expected)
    if (reissued === false) expect(id, about).toBe(expected)
    if (token) expect(await opens(world, subject, id), about).toBe(true)
  }
  const made = world.writes(mark).filter(({ method, status }) => method === 'POST' && status === 201)
  const again = now.filter((subject) => ![idIn(before, subject), idIn(after, subject)].includes(subject.id))
  expect(made).toHaveLength(again.length)
  await expectAtRest(world, now)
  await listRestored('from a backup without status', now)
})
