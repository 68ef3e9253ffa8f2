import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reportedOrphans } from '../../../builders/model-story.ts'
import { ModelWorld } from '../../../builders/model-world.ts'
import { liveWithTokens, type Step, tokenReports, tokenStories } from '../../../builders/token-story.ts'

/** Stories that once failed. */
const regressions: readonly (readonly Step[])[] = [
  // A Secret reserved under the spec's former name was left behind.
  [
    { type: 'apply', subject: 1, spec: 0, thenMs: 0 },
    { type: 'api fault', fault: 'lost', thenMs: 1 },
    { type: 'apply', subject: 1, spec: 1, thenMs: 0 },
    { type: 'api fault', fault: 'lost', thenMs: 0 },
  ],
  // A recovered object that was not stored yet was forgotten when the process died while replacing it.
  [
    { type: 'apply', subject: 0, spec: 0, thenMs: 0 },
    { type: 'delete', subject: 1, thenMs: 4000 },
    { type: 'restore', subject: 0, collect: true, thenMs: 25 },
    { type: 'restore', subject: 1, collect: false, thenMs: 0 },
  ],
  // A token moved to another key by a write without an answer also stayed under the former one.
  [
    { type: 'apply', subject: 0, spec: 2, thenMs: 0 },
    { type: 'crash', downMs: 0, thenMs: 1500 },
    { type: 'apply', subject: 0, spec: 0, thenMs: 0 },
    { type: 'meddle', subject: 0, how: 'forget', thenMs: 0 },
    { type: 'kube fault', fault: 'lost', thenMs: 0 },
  ],
  // A spec that returned to a Secret with a foreign key was refused it.
  [
    { type: 'apply', subject: 0, spec: 0, thenMs: 25 },
    { type: 'apply', subject: 0, spec: 1, thenMs: 0 },
    { type: 'meddle', subject: 0, how: 'add', thenMs: 0 },
    { type: 'api fault', fault: 'lost', thenMs: 25 },
    { type: 'apply', subject: 0, spec: 0, thenMs: 0 },
    { type: 'kube fault', fault: 'lost', thenMs: 0 },
  ],
  // A token altered while the status was lost was trusted.
  [
    { type: 'apply', subject: 0, spec: 0, thenMs: 0 },
    { type: 'kube fault', fault: 'lost', thenMs: 600 },
    { type: 'kube fault', fault: 'unsent', thenMs: 0 },
    { type: 'lose status', subject: 0, thenMs: 10 },
    { type: 'collect garbage', thenMs: 10 },
    { type: 'meddle', subject: 0, how: 'alter', thenMs: 0 },
  ],
]

test('whatever gets lost, dies or interferes, at rest there is one object for each token, the Secret holds it, and then silence', async () => {
  await fc.assert(
    fc.asyncProperty(tokenStories, async (story) => {
      const world = await liveWithTokens(story)
      // A reserved Secret may be removed by hand just before the POST.
      const meddled = story.some(({ type }) => ['meddle', 'restore', 'collect garbage'].includes(type))
      expect(world.violations.filter((what) => !meddled || !what.startsWith('POST without a Secret'))).toEqual([])
      expect(world.bugs).toEqual([])
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
        expect(cr.status?.internal?.superseded).toBeUndefined()
      }
      const { length } = world.writes
      await world.clock.advance(180_000)
      expect(world.writes.slice(length)).toEqual([])
      world.kill()
    }),
    { numRuns: 150, seed: 20_261_121, examples: regressions.map((story) => [story]) },
  )
}, 120_000)

test('a create that is refused is not sent again and again for the Secret that was reserved for it', async () => {
  const world = ModelWorld.start()
  await world.clock.advance(1000)
  world.apiFaults.push(...Array.from({ length: 100 }, () => 'refused' as const))
  world.apply('APIKey', 'ci', {})
  await world.clock.advance(60_000)
  // Once more for the new Secret, then slowly.
  expect(world.writes.filter((write) => write === 'POST api_keys').length).toBeLessThanOrEqual(2)
  world.kill()
})
