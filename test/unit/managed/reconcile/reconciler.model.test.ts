import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  actualObjects,
  expectedObjects,
  live,
  madeTwice,
  reportedOrphans,
  stories,
} from '../../../builders/model-story.ts'

const byId = (left: { readonly id?: unknown }, right: { readonly id?: unknown }): number =>
  String(left.id) < String(right.id) ? -1 : 1

test('whatever gets lost, dies or interferes, at rest there is one object for each resource, as its spec has it, and then silence', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const world = await live(story)
      expect(world.violations).toEqual([])
      expect(world.bugs).toEqual([])
      const orphans = reportedOrphans(world)
      const held = actualObjects(world).filter(({ id }) => !orphans.includes(String(id)))
      expect([...held].sort(byId)).toEqual([...expectedObjects(world)].sort(byId))
      const doubled = story.filter((step) => step.type === 'api fault' && step.fault === 'doubled')
      expect(madeTwice(world).length).toBeLessThanOrEqual(doubled.length)
      expect(orphans.length).toBeLessThanOrEqual(doubled.length)
      for (const cr of world.all()) {
        expect(cr.metadata.deletionTimestamp).toBeUndefined()
        expect(cr.status?.observedGeneration).toBe(cr.metadata.generation)
        expect(cr.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
          'Ready=True',
          'Synced=True',
          // The account has no tunnels.
          ...('tunnelGroup' in cr.spec ? ['TunnelsOnline=False'] : []),
        ])
      }
      const { length } = world.writes
      await world.clock.advance(180_000)
      expect(world.writes.slice(length)).toEqual([])
      world.kill()
    }),
    { numRuns: 100, seed: 20_261_121 },
  )
}, 60_000)
