import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fingerprint } from '../../../src/api/fingerprint.ts'

it('equal secrets have equal fingerprints and others have others, also under another salt', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), fc.uuid(), (secret, other, salt) => {
      fc.pre(secret !== other && secret !== salt)
      expect(fingerprint(secret, salt)).toBe(fingerprint(secret, salt))
      expect(fingerprint(secret, salt)).not.toBe(fingerprint(other, salt))
      expect(fingerprint(secret, salt)).not.toBe(fingerprint(secret, other))
    }),
  )
})

it('a fingerprint is 16 hexadecimal digits', () => {
  expect(fingerprint('key', 'salt')).toMatch(/^[0-9a-f]{16}$/)
})
