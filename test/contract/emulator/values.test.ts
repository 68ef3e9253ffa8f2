import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRateLimit } from '../../../src/emulator/emulator-options.ts'
import { cidr } from '../../../src/emulator/fields/cidr.ts'
import { domainName, hostport } from '../../../src/emulator/fields/hostname.ts'
import { parseListen } from '../../../src/emulator/gateway/gateway-options.ts'
import { RequestError } from '../../../src/emulator/values/request-error.ts'

const octet = fc.integer({ min: 0, max: 255 })

/** The address with every bit after the prefix cleared, computed with integers. */
function masked(octets: readonly number[], length: number): string {
  const address = octets.reduce((value, part) => value * 256n + BigInt(part), 0n)
  const hostBits = BigInt(32 - length)
  const network = (address >> hostBits) << hostBits
  return [24n, 16n, 8n, 0n].map((shift) => String((network >> shift) & 255n)).join('.')
}

describe('cidr', () => {
  it('accepts exactly the IPv4 ranges without host bits, and returns them unchanged', () => {
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), fc.integer({ min: 0, max: 32 }), (octets, length) => {
        const text = `${octets.join('.')}/${length}`
        const canonical = `${masked(octets, length)}/${length}`
        expect(cidr(canonical, 'cidr')).toBe(canonical)
        if (text !== canonical) expect(() => cidr(text, 'cidr')).toThrow(RequestError)
      }),
    )
  })

  it('is stable: the canonical form of a canonical form is itself', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        fc.pre(!address.includes('.'))
        const canonical = cidr(address, 'cidr')
        expect(canonical).toMatch(/\/128$/)
        expect(cidr(canonical, 'cidr')).toBe(canonical)
      }),
    )
  })

  it.each([
    ['10.0.0.1', '10.0.0.1/32'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:0db8:0:0::1', '2001:db8::1/128'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201/128'],
  ])('turns %s into %s', (given, canonical) => {
    expect(cidr(given, 'cidr')).toBe(canonical)
  })

  it.each([
    '',
    '10.0.0',
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/',
    '010.0.0.0/8',
    '::192.0.2.1',
    '::ffff:010.0.0.1',
    '0x0a.0.0.0/8',
    '::1/129',
    'fe80::1%eth0',
    '1.2.3.4/8/8',
    7,
    null,
  ])('refuses %j', (given) => {
    expect(() => cidr(given, 'cidr')).toThrow(RequestError)
  })
})

describe('names', () => {
  it.each([
    ['App.Example.COM', 'app.example.com'],
    ['*.example.com', '*.example.com'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ])('of domains: %s becomes %s', (given, canonical) => {
    expect(domainName(given, 'domain')).toBe(canonical)
  })

  it.each([
    '',
    'localhost',
    'a..b',
    '-a.example',
    'a-.example',
    '*.*.example.com',
    'a.*.example.com',
    '10.0.0.1',
    'a.example:443',
    'http://a.example',
    `${'a'.repeat(64)}.example`,
    7,
  ])('of domains: %j is refused', (given) => {
    expect(() => domainName(given, 'domain')).toThrow(RequestError)
  })

  it.each(['a.example', 'a.example:0', 'a.example:65536', 'a.example:080', ':443', '*.example.com:443', '[::1]:443'])(
    'of hostports: %j is refused',
    (given) => {
      expect(() => hostport(given, 'hostports[0]')).toThrow(RequestError)
    },
  )
})

describe('options', () => {
  it('are read from the way people write them', () => {
    expect(parseRateLimit('120/min')).toEqual({ requests: 120, periodMs: 60_000 })
    expect(parseRateLimit('5/s')).toEqual({ requests: 5, periodMs: 1000 })
    expect(parseListen('127.0.0.1:4040')).toEqual({ host: '127.0.0.1', port: 4040 })
    expect(parseListen('[::1]:0')).toEqual({ host: '::1', port: 0 })
  })

  it.each([
    () => parseRateLimit('0/min'),
    () => parseRateLimit('120'),
    () => parseListen('4040'),
    () => parseListen('::1:80'),
    () => parseListen('localhost:70000'),
  ])('are refused otherwise, with an example of the right form', (read) => {
    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
