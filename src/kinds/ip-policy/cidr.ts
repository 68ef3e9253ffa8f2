import ipaddr from 'ipaddr.js'
import { text } from '../../schema/define.ts'

/** The longest text of an IPv6 range: eight groups of four digits and `/128`. */
const LONGEST = 43

/**
 * An address, or a range in canonical CIDR notation. Other spellings are refused rather than rewritten: the text is the
 * key of a list, and two spellings of one range would be two rules (`api-decisions.md § Values`).
 */
export const cidr = cidrText('cidr')

/** The same for entries of the list `field`, which messages name. */
export function cidrText(field: string) {
  return text({
    description:
      'An address, or an address range in canonical CIDR notation, IPv4 or IPv6: `192.0.2.1`, `10.0.0.0/8`, `2001:db8::/32`. Other spellings of the same range are refused, so that each range has only one.',
    minLength: 1,
    maxLength: LONGEST,
    rules: [
      {
        rule: 'isCIDR(self) || isIP(self)',
        message: `${field} must be an address, such as 192.0.2.1, or a range in CIDR notation, such as 192.0.2.0/24 or 2001:db8::/32`,
      },
      {
        rule: '!isCIDR(self) || cidr(self).masked() == cidr(self)',
        message: `${field} has host bits set: write the first address of the range, such as 10.0.0.0/8 and not 10.0.0.1/8`,
      },
      {
        rule: 'isCIDR(self) ? string(cidr(self)) == self : (!isIP(self) || string(ip(self)) == self)',
        message: `${field} is not in canonical form: write it in lower case and compress IPv6, such as 2001:db8::/32`,
      },
    ],
  })
}

/**
 * The canonical text of a range, for comparing what the API returns with what was sent: a bare address gets its full
 * length, host bits are dropped, IPv6 is compressed. Text that is not a range is returned unchanged.
 */
export function normaliseCIDR(value: string): string {
  const [, address = '', length] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(value) ?? []
  if (!ipaddr.isValid(address)) return value
  const parsed = ipaddr.parse(address)
  const width = parsed.kind() === 'ipv4' ? 32 : 128
  const prefix = length === undefined ? width : Number(length)
  if (prefix > width) return value
  return `${networkAddress(parsed.toByteArray(), prefix)}/${prefix}`
}

function networkAddress(bytes: readonly number[], prefix: number): string {
  const masked = bytes.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefix - index * 8))
    return byte & (0xff << (8 - bits)) & 0xff
  })
  return ipaddr.fromByteArray(masked).toString()
}

const DOCUMENTATION_HOSTS = 254

/**
 * One address of the range reserved for documentation (192.0.2.0/24, RFC 5737), which never appears in traffic, as a
 * single-address range that is not in `taken`: the first free one, starting at the `start`-th.
 */
export function documentationAddress(taken: ReadonlySet<string>, start = 0): string {
  for (let step = 0; step < DOCUMENTATION_HOSTS; step += 1) {
    const candidate = `192.0.2.${1 + ((start + step) % DOCUMENTATION_HOSTS)}/32`
    if (!taken.has(candidate)) return candidate
  }
  // All 254 are rules already, so take the whole block, a wider range: a policy holds each range once.
  return '192.0.2.0/24'
}

/** Ranges reserved for documentation (RFC 5737, RFC 3849): their addresses never appear in traffic. */
const DOCUMENTATION = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'] as const

/**
 * Two ranges for a pair of rules that counts as an allow and admits nothing: an allow inside a deny. They are in the
 * first documentation range that no range in `taken` overlaps; if all are, in the last one, where none has them.
 */
export function guardRanges(taken: ReadonlySet<string>): { readonly deny: string; readonly allow: string } {
  const free = DOCUMENTATION.find((range) => ![...taken].some((other) => overlaps(range, other)))
  if (free !== undefined) return pairAt(free.slice(0, free.indexOf('/')))
  for (let pair = 0; ; pair += 2) {
    const { deny, allow } = pairAt(`2001:db8::${pair.toString(16)}`)
    if (!taken.has(deny) && !taken.has(allow)) return { deny, allow }
  }
}

function pairAt(address: string): { readonly deny: string; readonly allow: string } {
  const width = ipaddr.parse(address).kind() === 'ipv4' ? 32 : 128
  return { deny: normaliseCIDR(`${address}/${width - 1}`), allow: normaliseCIDR(`${address}/${width}`) }
}

/** Whether two ranges have an address in common. IPv4 counts as the IPv4-mapped addresses of IPv6. */
function overlaps(one: string, other: string): boolean {
  const [first, second] = [mapped(one), mapped(other)]
  if (first === undefined || second === undefined) return false
  const length = Math.min(first.prefix, second.prefix)
  const [left, right] = [first, second].map(({ bytes }) => networkAddress(bytes, length))
  return left === right
}

function mapped(range: string): { readonly bytes: readonly number[]; readonly prefix: number } | undefined {
  if (!ipaddr.isValidCIDR(range)) return undefined
  const [address, prefix] = ipaddr.parseCIDR(range)
  if (address instanceof ipaddr.IPv6) return { bytes: address.toByteArray(), prefix }
  return { bytes: address.toIPv4MappedAddress().toByteArray(), prefix: prefix + 96 }
}
