import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reportedOrphans } from '../../builders/model-story.ts'
import { foreignSecrets, isUntouched, liveWithTokens, tokenReports, tokenStories } from '../../builders/token-story.ts'

test('whatever gets lost, dies or interferes, at rest there is one object for each token, the Secret holds it, and then silence', async () => {
  await fc.assert(
    fc.asyncProperty(tokenStories, async (story) => {
      const world = await liveWithTokens(story)
      // Who takes a reserved Secret away may do so just before the POST.
      const meddled = story.some(({ type }) => ['meddle', 'restore', 'collect garbage'].includes(type))
      expect(world.violations.filter((what) => !meddled || !what.startsWith('POST without a Secret'))).toEqual([])
      expect(world.bugs).toEqual([])
      expect(foreignSecrets(world).filter((secret) => !isUntouched(secret))).toEqual([])
      const orphans = reportedOrphans(world)
      const doubled = story.filter((step) => step.type === 'api fault' && step.fault === 'doubled')
      expect(orphans.length).toBeLessThanOrEqual(doubled.length)
      for (const { resource, held, id, tokenOf, secrets, wanted, leaks } of tokenReports(world)) {
        expect(
          held.filter((one) => !orphans.includes(one)),
          resource,
        ).toEqual(id === undefined ? [] : [id])
        expect(tokenOf, resource).toBe(id)
        expect(secrets, resource).toEqual(id === undefined ? [] : [wanted])
        expect(leaks, resource).toEqual([])
      }
      for (const cr of world.all()) {
        expect(cr.metadata.deletionTimestamp).toBeUndefined()
        expect(cr.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
          'Ready=True',
          'Synced=True',
        ])
        expect(cr.status?.superseded).toBeUndefined()
      }
      const { length } = world.writes
      await world.clock.advance(180_000)
      expect(world.writes.slice(length)).toEqual([])
      world.kill()
    }),
    { numRuns: 150, seed: 20_261_121 },
  )
}, 120_000)
