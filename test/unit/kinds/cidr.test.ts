import fc from 'fast-check'
import { expect, test } from 'vitest'
import { documentationAddress, normaliseCIDR } from '../../../src/kinds/ip-policy/cidr.ts'

test.each([
  ['10.0.0.1', '10.0.0.1/32'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['10.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8:0:0::1', '2001:db8::1/128'],
  ['2001:db8::ffff/33', '2001:db8::/33'],
  ['no range', 'no range'],
  ['10.0.0.0/33', '10.0.0.0/33'],
  ['10.0.0.0/', '10.0.0.0/'],
  ['', ''],
])('%s is %s in canonical form', (given, canonical) => {
  expect(normaliseCIDR(given)).toBe(canonical)
})

test('a canonical text stays as it is', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6())
  fc.assert(
    fc.property(address, fc.nat(128), (text, length) => {
      const once = normaliseCIDR(`${text}/${length}`)
      expect(normaliseCIDR(once)).toBe(once)
    }),
  )
})

test('there is always a documentation address that is not taken', () => {
  const taken = new Set<string>()
  for (let count = 0; count < 255; count += 1) {
    const address = documentationAddress(taken)
    expect(taken.has(address)).toBe(false)
    taken.add(address)
  }
})
