import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holderAmong } from '../../../../src/managed/store/holder.ts'
import { cr } from '../../../builders/custom-resource.ts'

const claimant = fc
  .record({
    uid: fc.constantFrom('a', 'b', 'c', 'd'),
    creationTimestamp: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'),
    isManaging: fc.boolean(),
  })
  .map(({ uid, creationTimestamp, isManaging }) => {
    const create = { nonce: 'aaaaaaaa', attempt: 0 }
    return cr({ uid, creationTimestamp }, { id: 'bkdtg_1', internal: isManaging ? { create } : {} })
  })
const claimants = fc.uniqueArray(claimant, { selector: ({ metadata }) => metadata.uid, minLength: 1 })

test('of several resources whose statuses name one object the same one has it, in whatever order they are found', () => {
  fc.assert(
    fc.property(
      claimants.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([all, shuffled]) => {
        expect(holderAmong(shuffled)).toBe(holderAmong(all))
      },
    ),
  )
})

test('who comes to name it later takes it from nobody who manages it and is older', () => {
  fc.assert(
    fc.property(claimants, claimant, (all, late) => {
      const holder = holderAmong(all)
      const isOlder = (holder?.metadata.creationTimestamp ?? '') < (late.metadata.creationTimestamp ?? '')
      fc.pre(
        isOlder &&
          holder?.status?.internal?.create !== undefined &&
          all.every(({ metadata }) => metadata.uid !== late.metadata.uid),
      )
      expect(holderAmong([late, ...all])).toBe(holder)
    }),
  )
})

test('who manages it goes before who only looks at it', () => {
  fc.assert(
    fc.property(claimants, (all) => {
      const isManaged = all.some(({ status }) => status?.internal?.create !== undefined)
      expect(holderAmong(all)?.status?.internal?.create !== undefined).toBe(isManaged)
    }),
  )
})

test('nobody has what no status names', () => {
  expect(holderAmong([])).toBeUndefined()
})
