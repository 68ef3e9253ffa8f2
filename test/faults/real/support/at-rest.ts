import { expect } from 'vitest'
import { PLACEHOLDER_NONCE } from '../../../../src/managed/markers/marker.ts'
import { expectAsWritten, type LivedSubject } from '../../../cluster/support/as-written.ts'
import { expectExactlyOneEach, managed } from '../../../cluster/support/cases.ts'
import { expectNothingLeft } from '../../../cluster/support/nothing-left.ts'
import { until } from '../../../cluster/support/wait.ts'
import type { World } from '../../../cluster/support/world.ts'
import { CONFIG_MAP, SECRET, SEED } from '../../../kinds/shared/account.ts'
import type { Made } from './made.ts'

/** Objects of the account without a CR of the suite. */
export interface Foreign {
  /** Ids of objects from before. */
  readonly objects?: readonly string[]
}

/**
 * The operator stops when more than a tenth of the objects is missing (`docs/decisions/0006-circuit-breaker.md`):
 * enough others stay.
 */
const BYSTANDERS: readonly {
  readonly kind: string
  readonly prefix: string
  readonly spec: Record<string, unknown>
}[] = [
  { kind: 'Backend', prefix: 'group', spec: { type: 'TunnelGroup', tunnelGroup: {} } },
  { kind: 'Backend', prefix: 'answer', spec: { type: 'HTTPResponse', httpResponse: {} } },
  { kind: 'ReservedAddress', prefix: 'address', spec: {} },
]
const EACH = 45
const AT_ONCE = 15

/** Puts the dependencies of the specs into the world: seeded objects, a Secret and a ConfigMap. */
export async function setUp(world: World): Promise<void> {
  world.emulator.admin.seed(SEED)
  await world.secret(SECRET.name, SECRET.values)
  await world.configMap(CONFIG_MAP.name, CONFIG_MAP.values)
}

/**
 * Creates resources that stay undisturbed, in several collections: behind a proxy, lists of one page can be followed.
 */
export async function applyBystanders(world: World, made: Made): Promise<void> {
  const all = BYSTANDERS.flatMap(({ kind, prefix, spec }) => {
    return Array.from({ length: EACH }, (_, index) => ({ kind, name: `${prefix}-${index}`, spec }))
  })
  // Not all at once: on a busy machine requests would time out.
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE)
    await Promise.all(some.map((manifest) => made.apply(manifest)))
    await Promise.all(some.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  }
}

/**
 * The oracle after the last fault: exactly one object for each CR and no others, no more created than `made` says, each
 * subject's object as its spec says, correct ids and generations in the status, working tokens; and a full resync
 * writes nothing to the API or the CRs.
 */
export async function expectAtRest(
  world: World,
  subjects: readonly LivedSubject[],
  made: Made,
  foreign: Foreign = {},
): Promise<void> {
  await untilNothingStandsIn(world)
  await expectExactlyOneEach(world, (kind) => made.of(kind), foreign.objects)
  await expectAsWritten(world, subjects)
  const before = await versions(world)
  const mark = world.mark()
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  expect(await versions(world)).toEqual(before)
}

/**
 * The placeholder of a replacement is deleted once the status names the new object: also after a crash, and without a
 * resync.
 */
async function untilNothingStandsIn(world: World): Promise<void> {
  const hasPlaceholder = managed.filter(({ replacement }) => replacement?.placeholder !== undefined)
  const paths = hasPlaceholder.flatMap(({ identity: { collections } }) => collections.map(({ path }) => path))
  const left = async () => {
    const objects = (await Promise.all(paths.map((path) => world.remote(path)))).flat()
    return objects.filter(({ metadata }) => String(metadata).includes(`"nonce":"${PLACEHOLDER_NONCE}"`))
  }
  await until('nothing stands in for another any more', async () => (await left()).length === 0, { describe: left })
}

/** The version of each CR of a managed kind, which every write would change, with its observedGeneration. */
async function versions(world: World): Promise<readonly string[]> {
  const crs = await Promise.all(managed.map(({ definition }) => world.list(definition.kind)))
  return crs.flat().map(({ kind, metadata, status }) => {
    expect(status?.observedGeneration, `${kind}/${metadata.name}`).toBe(metadata.generation)
    return `${kind}/${metadata.name} ${metadata.resourceVersion}`
  })
}

/** Deletes every CR of a managed kind, and checks that no object is left, neither of them nor of earlier ones. */
export async function expectAllGone(world: World, foreign: Foreign = {}): Promise<void> {
  for (const { definition } of managed) {
    const { kind } = definition
    for (const { metadata } of await world.list(kind)) await world.delete(kind, metadata.name)
  }
  const seeded = Object.values(SEED.objects ?? {}).flatMap((objects) => objects.map(({ id }) => id))
  await expectNothingLeft(world, { objects: [...seeded, ...(foreign.objects ?? [])], secrets: [SECRET.name] })
}
