import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openEmulator } from '../../../src/emulator/emulator.ts'
import { IdSource, idBody, idPrefix, isIdBody } from '../../../src/emulator/values/ids.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { seededRandom } from '../../builders/seeded-random.ts'

describe('ids', () => {
  it('are the prefix and 27 base-62 characters, strictly increasing whatever the clock does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4_000_000_000_000 }), { minLength: 2, maxLength: 50 }),
        (times) => {
          let now = 0
          const source = new IdSource(() => now, systemRandom)
          let last = ''
          for (const time of times) {
            now = time
            const id = source.next('edgtcp')
            expect(id).toMatch(/^edgtcp_[0-9A-Za-z]{27}$/)
            expect(id > last).toBe(true)
            last = id
          }
        },
      ),
    )
  })

  it('follow one another within the same second, also when randomness is at its ends', () => {
    for (const digit of ['0', 'f']) {
      const source = new IdSource(() => 1_700_000_000_000, { next: () => 0, hex: (bytes) => digit.repeat(bytes * 2) })
      const ids = Array.from({ length: 1000 }, () => source.next('rd'))
      expect(new Set(ids).size).toBe(1000)
      expect(ids.toSorted((left, right) => (left < right ? -1 : 1))).toEqual(ids)
    }
  })

  it('carry the time: a later second sorts later, from an independent source too', () => {
    const early = new IdSource(() => 1_700_000_000_000, systemRandom).next('ipp')
    const late = new IdSource(() => 1_700_000_001_000, systemRandom).next('ipp')
    expect(late > early).toBe(true)
  })

  it('follow the ids of an earlier run', () => {
    const earlier = new IdSource(() => 1_800_000_000_000, systemRandom).next('ipp')
    const source = new IdSource(() => 1_700_000_000_000, systemRandom)
    source.follow(idBody(earlier))
    expect(source.next('ipp') > earlier).toBe(true)
  })

  it('depend on nothing before the emulator was reset', async () => {
    const machine = { now: 1_700_000_000_000, random: seededRandom(0) }
    const emulator = await openEmulator(
      {
        clock: { now: () => machine.now, monotonic: () => machine.now, setTimer: () => () => undefined },
        random: { next: () => machine.random.next(), hex: (bytes) => machine.random.hex(bytes) },
      },
      'https://api.example.com',
    )
    const idAfterReset = () => {
      machine.random = seededRandom(1)
      emulator.admin.reset()
      return emulator.admin.seed({ apiKeys: [{}] }).apiKeys[0]?.id
    }
    const first = idAfterReset()
    emulator.admin.seed({ apiKeys: [{}, {}] })
    expect(idAfterReset()).toBe(first)
    await emulator.close()
  })

  it('are taken apart into prefix and body', () => {
    const id = new IdSource(() => 1_700_000_000_000, systemRandom).next('bkdtg')
    expect(`${idPrefix(id)}_${idBody(id)}`).toBe(id)
    expect(isIdBody(idBody(id))).toBe(true)
    expect(isIdBody('z'.repeat(27))).toBe(false)
    expect(isIdBody('short')).toBe(false)
  })
})
