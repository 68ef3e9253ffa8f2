import fc from 'fast-check'
import { expect, test } from 'vitest'
import { declaredRules, heldRules, liveWithRules, ruleStories } from '../../../builders/rule-story.ts'

const byId = (left: { readonly id?: unknown }, right: { readonly id?: unknown }): number =>
  String(left.id) < String(right.id) ? -1 : 1

test('rules come, go and change behind a policy in use, which is never empty, and at rest each is there once', async () => {
  await fc.assert(
    fc.asyncProperty(ruleStories, async (story) => {
      const { world, emptied } = await liveWithRules(story)
      expect(emptied).toEqual([])
      expect(world.violations).toEqual([])
      expect(world.bugs).toEqual([])
      expect([...heldRules(world)].sort(byId)).toEqual([...declaredRules(world)].sort(byId))
      expect(world.get('IPPolicy', 'office')?.status?.ruleCount).toBe(heldRules(world).length)
      for (const cr of world.all()) {
        expect(cr.metadata.deletionTimestamp).toBeUndefined()
        const conditions = cr.status?.conditions?.map(({ type, status }) => `${type}=${status}`)
        // A recreated edge waits for the first rule.
        if (cr.kind !== 'Edge' || heldRules(world).length > 0) expect(conditions).toEqual(['Ready=True', 'Synced=True'])
      }
      const { length } = world.writes
      await world.clock.advance(180_000)
      expect(world.writes.slice(length)).toEqual([])
      world.kill()
    }),
    { numRuns: 60, seed: 20_261_121 },
  )
}, 60_000)
