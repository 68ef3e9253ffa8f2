import { expect } from 'vitest'
import { CONFIG_MAP, SECRET, SEED } from '../../../builders/specs.ts'
import { expectAsWritten, type LivedSubject } from '../../../cluster/support/as-written.ts'
import { expectExactlyOneEach, managed } from '../../../cluster/support/cases.ts'
import { expectNothingLeft } from '../../../cluster/support/nothing-left.ts'
import type { World } from '../../../cluster/support/world.ts'
import type { Made } from './made.ts'

/** What of the account no CR of the suite stands for. */
export interface Foreign {
  /** Ids of objects that were there before. */
  readonly objects?: readonly string[]
}

/** Where more than a tenth of the objects is missing, the operator holds still (`docs/decisions/0006-identity-brake.md`): many stay. */
const BYSTANDERS = 150

/** Puts what the specs refer to into the world: seeded objects, a Secret and a ConfigMap. */
export async function setUp(world: World): Promise<void> {
  world.emulator.admin.seed(SEED)
  await world.secret(SECRET.name, SECRET.values)
  await world.configMap(CONFIG_MAP.name, CONFIG_MAP.values)
}

/** Makes resources that nothing happens to, and waits until they are Ready. */
export async function applyBystanders(world: World, made: Made): Promise<void> {
  const spec = { type: 'TunnelGroup', tunnelGroup: {} }
  const names = Array.from({ length: BYSTANDERS }, (_, index) => `bystander-${index}`)
  await Promise.all(names.map((name) => made.apply({ kind: 'Backend', name, spec })))
  for (const name of names) await world.ready('Backend', name, 60_000)
}

/**
 * The oracle after the last fault: exactly one object for each CR and no other, no more made than `made` says, each of the subjects' as
 * its spec says, ids and generations in the status right, tokens that work; and a pass over everything writes nothing, at the API
 * or to the CRs.
 */
export async function expectAtRest(
  world: World,
  subjects: readonly LivedSubject[],
  made: Made,
  foreign: Foreign = {},
): Promise<void> {
  await expectExactlyOneEach(world, (kind) => made.of(kind), foreign.objects)
  await expectAsWritten(world, subjects)
  const before = await versions(world)
  const mark = world.mark()
  await world.pass()
  expect(world.writes(mark)).toEqual([])
  expect(await versions(world)).toEqual(before)
}

/** Version of each CR of a managed kind, which every write would change; with the generation that its status speaks of. */
async function versions(world: World): Promise<readonly string[]> {
  const crs = await Promise.all(managed.map(({ definition }) => world.list(definition.kind)))
  return crs.flat().map(({ kind, metadata, status }) => {
    expect(status?.observedGeneration, `${kind}/${metadata.name}`).toBe(metadata.generation)
    return `${kind}/${metadata.name} ${metadata.resourceVersion}`
  })
}

/** Deletes every CR of a managed kind, and checks that nothing is left of them, or of any that was there before. */
export async function expectAllGone(world: World, foreign: Foreign = {}): Promise<void> {
  for (const { definition } of managed) {
    const { kind } = definition
    for (const { metadata } of await world.list(kind)) await world.delete(kind, metadata.name)
  }
  const seeded = Object.values(SEED.objects ?? {}).flatMap((objects) => objects.map(({ id }) => id))
  await expectNothingLeft(world, { objects: [...seeded, ...(foreign.objects ?? [])], secrets: [SECRET.name] })
}
