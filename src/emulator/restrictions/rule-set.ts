import type ipaddr from 'ipaddr.js'
import { parseAddress } from '../fields/cidr.ts'

/** The parts of an IP policy's rule that are needed here. */
export interface IpRule {
  /** Its id, if decisions are to name it. */
  readonly id?: string
  /** In canonical form, as policies store it. */
  readonly cidr: string
  readonly action: 'allow' | 'deny'
}

/** What policies say of an address. */
export interface PolicyDecision {
  readonly isAdmitted: boolean
  /** Id of the rule that decided; undefined if none matches, or it has none. */
  readonly rule: string | undefined
}

/** How the rules of a restriction are read where the contract leaves it open. */
export interface RuleReading {
  /** What happens to an address that no rule matches, if no rule allows anything. */
  readonly withoutAllow: 'refused' | 'admitted'
  /** Whether policies have their rules in common, or one of them, or each of them, has to admit an address. */
  readonly combined: 'together' | 'any' | 'each'
}

/**
 * What a restriction with these policies says of an address (`api-decisions.md § Behaviour`): a matching deny refuses
 * it, else a matching allow admits it, else it is refused; so without any rules everything is refused. Pure.
 *
 * @param source an IPv4 or IPv6 address; any other text is refused
 */
export function decide(
  policies: readonly RuleSet[],
  source: string,
  { withoutAllow, combined }: RuleReading = { withoutAllow: 'refused', combined: 'together' },
): PolicyDecision {
  const ip = parseAddress(source)
  if (ip === undefined) return { isAdmitted: false, rule: undefined }
  const address = numberOf(ip)
  const sets = combined === 'together' || policies.length === 0 ? [policies] : policies.map((policy) => [policy])
  const decisions = sets.map((set) => decideTogether(set, address, withoutAllow))
  const admitting = decisions.filter((decision) => decision.isAdmitted)
  const isAdmitted = combined === 'any' ? admitting.length > 0 : admitting.length === decisions.length
  const decisive = decisions.filter((decision) => decision.isAdmitted === isAdmitted)
  return { isAdmitted, rule: decisive.find(({ rule }) => rule !== undefined)?.rule }
}

function decideTogether(
  policies: readonly RuleSet[],
  address: Address,
  withoutAllow: RuleReading['withoutAllow'],
): PolicyDecision {
  const matches = policies.map((policy) => policy.match(address)).filter((match) => match !== undefined)
  const match = matches.find(({ action }) => action === 'deny') ?? matches[0]
  if (match !== undefined) return { isAdmitted: match.action === 'allow', rule: match.id }
  const isAdmitted = withoutAllow === 'admitted' && !policies.some((policy) => policy.allowsAny)
  return { isAdmitted, rule: undefined }
}

/** Whether it admits the address. */
export function admits(...given: Parameters<typeof decide>): boolean {
  return decide(...given).isAdmitted
}

/** The rules of one IP policy, in a form that is fast to query. */
export class RuleSet {
  readonly #allowed = new AddressSet()
  readonly #denied = new AddressSet()

  constructor(rules: Iterable<IpRule>) {
    for (const rule of rules) (rule.action === 'deny' ? this.#denied : this.#allowed).add(rule)
  }

  get allowsAny(): boolean {
    return !this.#allowed.isEmpty
  }

  /** The matching rule, where a deny takes precedence. Undefined when none matches. */
  match(address: Address): IpRule | undefined {
    return this.#denied.find(address) ?? this.#allowed.find(address)
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
  /** The rules by their addresses without host bits. */
  readonly networks: Map<bigint, IpRule>
}

/**
 * Ranges by family and prefix length: finding an address takes as many lookups as there are lengths, however many
 * ranges there are.
 */
class AddressSet {
  readonly #byLength = new Map<string, Ranges>()

  add(rule: IpRule): void {
    const { cidr } = rule
    const [text = '', length] = cidr.split('/')
    const ip = parseAddress(text)
    if (ip === undefined) throw new Error(`${cidr} is not an address range`)
    const written = ip.toByteArray().length * 8
    const hostBits = BigInt(written - Number(length))
    // A range within the IPv4-mapped addresses is an IPv4 range; a wider one is not.
    const { width, value } = hostBits <= 32n ? numberOf(ip) : whole(ip)
    const key = `${width}/${hostBits}`
    const ranges = this.#byLength.get(key) ?? { width, hostBits, networks: new Map<bigint, IpRule>() }
    ranges.networks.set(value >> hostBits, rule)
    this.#byLength.set(key, ranges)
  }

  get isEmpty(): boolean {
    return this.#byLength.size === 0
  }

  /** One of the rules that match. */
  find({ width, value }: Address): IpRule | undefined {
    for (const ranges of this.#byLength.values()) {
      const rule = ranges.width === width ? ranges.networks.get(value >> ranges.hostBits) : undefined
      if (rule !== undefined) return rule
    }
    return undefined
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
