import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GatheredAll, GatheredMost } from '../../../src/api/paging.ts'

const ids = fc.uniqueArray(fc.integer({ min: 0, max: 500 }).map((number) => `ts_${String(number).padStart(4, '0')}`))

function most(shown: readonly string[], limit: number, prefers: ReadonlySet<string> = new Set()) {
  const gathered = new GatheredMost({ limit, prefers: (id) => prefers.has(id) })
  for (const id of shown) gathered.add({ id })
  return { ids: gathered.objects().map(({ id }) => id), size: gathered.size }
}

test('the preferred objects are kept, then those with the lowest ids, in whatever order and however often they are shown', () => {
  fc.assert(
    fc.property(
      ids,
      fc.integer({ min: 1, max: 40 }),
      fc.func(fc.boolean()),
      fc.infiniteStream(fc.nat()),
      (all, limit, isPreferred, chance) => {
        const preferred = new Set(all.filter((id) => isPreferred(id)))
        const shuffled = [...all, ...all.slice(0, 5)]
          .map((id) => [chance.next().value ?? 0, id] as const)
          .sort(([left], [right]) => left - right)
          .map(([, id]) => id)
        const expected = [
          ...all.filter((id) => preferred.has(id)).toSorted(),
          ...all.filter((id) => !preferred.has(id)).toSorted(),
        ].slice(0, limit)
        expect(most(shuffled, limit, preferred)).toEqual({ ids: expected, size: all.length })
      },
    ),
  )
})

test('of a hundred thousand in falling order the lowest are left', () => {
  const gathered = new GatheredMost({ limit: 10, prefers: () => false })
  for (let index = 100_000; index > 0; index--) {
    gathered.add({ id: `ts_${String(index).padStart(6, '0')}` })
  }
  expect(gathered.objects().map(({ id }) => id)).toEqual(
    Array.from({ length: 10 }, (_, index) => `ts_${String(index + 1).padStart(6, '0')}`),
  )
  expect(gathered.size).toBe(100_000)
})

test('without a bound all are kept, each as it was last shown', () => {
  const gathered = new GatheredAll()
  for (const metadata of ['before', 'after']) gathered.add({ id: 'ts_1', metadata })
  expect([gathered.objects(), gathered.size]).toEqual([[{ id: 'ts_1', metadata: 'after' }], 1])
})
