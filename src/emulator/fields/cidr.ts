import ipaddr from 'ipaddr.js'
import { invalid } from '../values/request-error.ts'
import { type Reader, reader } from './field.ts'

/**
 * An address range in canonical CIDR notation (`api-decisions.md § Values`): a bare address gains /32 or /128, IPv6 is
 * compressed and lower-cased, set host bits are refused.
 */
export const cidr: Reader<string> = reader(
  { type: 'string', description: 'An IPv4 or IPv6 address, or a range in CIDR notation without host bits.' },
  (value, at) => {
    if (typeof value !== 'string') throw invalid(at, 'must be a string')
    const [address = '', length, ...rest] = value.split('/')
    if (rest.length > 0) throw invalid(at, `${JSON.stringify(value)} is not in CIDR notation`)
    const ip = parseAddress(address)
    if (ip === undefined) throw invalid(at, `${JSON.stringify(value)} is not an IPv4 or IPv6 address or range`)
    const width = ip.kind() === 'ipv4' ? 32 : 128
    const prefix = length === undefined ? width : parseLength(length, width)
    if (prefix === undefined) throw invalid(at, `the prefix length must be a whole number from 0 to ${width}`)
    if (hasHostBits(ip.toByteArray(), prefix)) throw invalid(at, `${JSON.stringify(value)} has host bits set`)
    return `${ip.toString()}/${prefix}`
  },
)

/**
 * An address without prefix length or zone, in the forms that every program reads the same way; undefined for others.
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // The library also reads octal, hexadecimal and short IPv4 forms, which mean different things to different programs.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined
  // The library reads `::192.0.2.1` as `::ffff:192.0.2.1`, and a decimal tail as octal.
  const tail = text.slice(text.lastIndexOf(':') + 1)
  if (tail.includes('.') && (!ipaddr.IPv4.isValidFourPartDecimal(tail) || text === `::${tail}`)) return undefined
  return ipaddr.IPv6.parse(text)
}

/** An address as a socket reports it, without a zone; an IPv4 address mapped into IPv6 as the IPv4 address. */
export function plainAddress(address: string): string {
  return address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
}

function parseLength(text: string, width: number): number | undefined {
  if (!/^(0|[1-9]\d{0,2})$/.test(text)) return undefined
  const length = Number(text)
  return length <= width ? length : undefined
}

function hasHostBits(bytes: number[], prefix: number): boolean {
  return bytes.some((byte, index) => {
    const networkBits = Math.min(8, Math.max(0, prefix - index * 8))
    return (byte & (0xff >> networkBits)) !== 0
  })
}
