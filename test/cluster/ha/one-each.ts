import { expect } from 'vitest'
import { SEED } from '../../kinds/shared/account.ts'
import { managed } from '../support/cases.ts'
import { expectLiveTokens } from '../support/tokens.ts'
import type { World } from '../support/world.ts'

/** At rest: a look writes nothing, there is no object but those that the resources hold, and every token works. */
export async function expectOneEach(world: World): Promise<void> {
  const mark = world.mark()
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  const seeded = Object.values(SEED.objects ?? {}).flatMap((objects) => objects.map(({ id }) => id))
  const others: ReadonlySet<unknown> = new Set([...seeded, world.journal()[0]?.keyId])
  for (const descriptor of managed) {
    const {
      definition,
      identity: { collections },
    } = descriptor
    // A rule may also be a policy's own.
    if (managed.some((other) => other.children && collections.includes(other.children.collection))) continue
    const crs = await world.list(definition.kind)
    const objects = (await Promise.all(collections.map(({ path }) => world.remote(path)))).flat()
    const found = objects.map(({ id }) => id).filter((id) => !others.has(id))
    expect(found.toSorted(), definition.kind).toEqual(crs.map(({ status }) => status?.id).toSorted())
    await expectLiveTokens(world, descriptor)
  }
}
