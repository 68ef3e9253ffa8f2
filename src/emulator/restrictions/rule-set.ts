import type ipaddr from 'ipaddr.js'
import { parseAddress } from '../fields/cidr.ts'

/** The parts of an IP policy's rule that are needed here. */
export interface IpRule {
  /** In canonical form, as policies store it. */
  readonly cidr: string
  readonly action: 'allow' | 'deny'
}

/**
 * Whether a restriction with these policies admits an address (`api-decisions.md § Behaviour`): a matching deny refuses
 * it, else a matching allow admits it, else it is refused; so without any rules everything is refused. Pure.
 *
 * @param source an IPv4 or IPv6 address; any other text is refused
 * @param withoutAllow what happens to an address that no rule matches, if no rule allows anything
 */
export function admits(
  policies: readonly RuleSet[],
  source: string,
  withoutAllow: 'refused' | 'admitted' = 'refused',
): boolean {
  const ip = parseAddress(source)
  if (ip === undefined) return false
  const address = numberOf(ip)
  const matches = policies.map((policy) => policy.match(address))
  if (matches.includes('deny')) return false
  return matches.includes('allow') || (withoutAllow === 'admitted' && !policies.some((policy) => policy.allowsAny))
}

/** The rules of one IP policy, in a form that is fast to query. */
export class RuleSet {
  readonly #allowed = new AddressSet()
  readonly #denied = new AddressSet()

  constructor(rules: Iterable<IpRule>) {
    for (const { cidr, action } of rules) (action === 'deny' ? this.#denied : this.#allowed).add(cidr)
  }

  get allowsAny(): boolean {
    return !this.#allowed.isEmpty
  }

  /** The action of the matching rules, where a deny takes precedence. Undefined when none matches. */
  match(address: Address): IpRule['action'] | undefined {
    if (this.#denied.has(address)) return 'deny'
    return this.#allowed.has(address) ? 'allow' : undefined
  }
}

interface Address {
  /** Length in bits, which tells the family. */
  readonly width: number
  readonly value: bigint
}

interface Ranges {
  readonly width: number
  readonly hostBits: bigint
  /** The addresses without their host bits. */
  readonly networks: Set<bigint>
}

/**
 * Ranges by family and prefix length: finding an address takes as many lookups as there are lengths, however many
 * ranges there are.
 */
class AddressSet {
  readonly #byLength = new Map<string, Ranges>()

  add(cidr: string): void {
    const [text = '', length] = cidr.split('/')
    const ip = parseAddress(text)
    if (ip === undefined) throw new Error(`${cidr} is not an address range`)
    const written = ip.toByteArray().length * 8
    const hostBits = BigInt(written - Number(length))
    // A range within the IPv4-mapped addresses is an IPv4 range; a wider one is not.
    const { width, value } = hostBits <= 32n ? numberOf(ip) : whole(ip)
    const key = `${width}/${hostBits}`
    const ranges = this.#byLength.get(key) ?? { width, hostBits, networks: new Set<bigint>() }
    ranges.networks.add(value >> hostBits)
    this.#byLength.set(key, ranges)
  }

  get isEmpty(): boolean {
    return this.#byLength.size === 0
  }

  has({ width, value }: Address): boolean {
    for (const ranges of this.#byLength.values()) {
      if (ranges.width === width && ranges.networks.has(value >> ranges.hostBits)) return true
    }
    return false
  }
}

/** The address as a number. An IPv4-mapped IPv6 address, as sockets report it, is the IPv4 address. */
function numberOf(ip: ipaddr.IPv4 | ipaddr.IPv6): Address {
  const { width, value } = whole(ip)
  return width === 128 && value >> 32n === 0xffffn ? { width: 32, value: value & 0xffff_ffffn } : { width, value }
}

function whole(ip: ipaddr.IPv4 | ipaddr.IPv6): Address {
  const bytes = Buffer.from(ip.toByteArray())
  return { width: bytes.length * 8, value: BigInt(`0x${bytes.toString('hex')}`) }
}
