import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareFingerprints, Fingerprints, type Purpose } from '../../../../src/managed/run/fingerprints.ts'

const salts = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
const purposes = fc.constantFrom<Purpose>('account', 'inputs', 'ownership', 'token')
const parts = fc.array(fc.string(), { minLength: 1, maxLength: 3 })

it('tells under one salt whether purpose and every part are the same, and nothing under another', () => {
  fc.assert(
    fc.property(salts, salts, purposes, purposes, parts, parts, (salt, otherSalt, purpose, other, said, later) => {
      fc.pre(!salt.equals(otherSalt))
      const [by, byOther] = [new Fingerprints(salt), new Fingerprints(otherSalt)]
      const noted = by.of(purpose, ...said)
      const isSame = purpose === other && JSON.stringify(said) === JSON.stringify(later)
      expect(compareFingerprints(noted, new Fingerprints(salt).of(other, ...later))).toBe(isSame ? 'same' : 'different')
      expect(compareFingerprints(noted, byOther.of(purpose, ...said))).toBe('unknown')
      expect(compareFingerprints(noted, undefined)).toBe('different')
      expect(compareFingerprints(undefined, noted)).toBe('different')
    }),
  )
  expect(compareFingerprints(undefined, undefined)).toBe('same')
})

it('moves no letter from one part to the next', () => {
  const by = new Fingerprints(Buffer.alloc(32, 1))
  expect(by.of('account', 'a', 'b')).not.toBe(by.of('account', 'ab', ''))
  expect(by.of('account', 'a', 'b')).not.toBe(by.of('account', 'a","b'))
})

it('is the name of the salt and 64 bits, all of which change with the salt', () => {
  fc.assert(
    fc.property(salts, salts, fc.string(), (salt, other, value) => {
      fc.pre(!salt.equals(other))
      const [one, two] = [salt, other].map((bytes) => new Fingerprints(bytes).of('token', value))
      expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{16}$/)
      expect(one?.slice(0, 8)).not.toBe(two?.slice(0, 8))
      expect(one?.slice(9)).not.toBe(two?.slice(9))
    }),
  )
})

it('says nothing about one that an earlier version noted', () => {
  const now = new Fingerprints(Buffer.alloc(32, 1)).of('inputs', 'x')
  expect(compareFingerprints('0123456789abcdef', now)).toBe('unknown')
})
