/**
 * What rules of IP policies say of single addresses, written from `management-api.md § IP policies, rules,
 * restrictions` and `api-decisions.md § Behaviour` alone: it shares no code with the operator or the emulator.
 */

/** A rule of a spec (`Allow`) or of the API (`allow`). */
export interface AddressRule {
  readonly cidr: string
  readonly action: string
}

/** An IPv4-mapped IPv6 address is the IPv4 address. */
export interface Address {
  readonly width: 32 | 128
  readonly value: bigint
}

interface Range {
  readonly width: 32 | 128
  readonly first: bigint
  readonly last: bigint
}

/**
 * What one policy says of an address, from the least to the most open: whatever other policies stand next to it, a
 * policy admits at least what one with a lower standing admits.
 */
export const standings = { denied: 0, unmatched: 1, unmatchedWithoutAllow: 2, allowed: 3 } as const

export type Standing = (typeof standings)[keyof typeof standings]

/** What happens to an address that no rule matches where no policy allows anything: the contract leaves it open. */
export type WithoutAllow = 'refused' | 'admitted'

/** The text of an address as a number. @throws for any other text */
export function addressOf(text: string): Address {
  if (!text.includes(':')) return { width: 32, value: ofParts(fourParts(text), 8n) }
  const last = text.slice(text.lastIndexOf(':') + 1)
  const tail = last.includes('.') ? fourParts(last) : undefined
  const hex = tail === undefined ? text : text.slice(0, -last.length) + pairOf(tail)
  const [head = '', rest] = hex.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = rest === undefined || rest === '' ? [] : rest.split(':')
  const zeros = rest === undefined ? [] : Array<string>(8 - front.length - back.length).fill('0')
  const groups = [...front, ...zeros, ...back]
  if (groups.length !== 8) throw new Error(`${text} is not an address`)
  return unmapped(
    ofParts(
      groups.map((group) => BigInt(`0x${group}`)),
      16n,
    ),
  )
}

/**
 * The addresses at which rules can begin or end to differ: the first and the last of every range, and those before and
 * after it.
 */
export function addressesAround(rules: Iterable<AddressRule>): readonly Address[] {
  const found = new Map<string, Address>()
  for (const { cidr } of rules) {
    const { width, first, last } = rangeOf(cidr)
    for (const value of [first - 1n, first, last, last + 1n]) {
      if (value < 0n || value >> BigInt(width) !== 0n) continue
      const address = width === 128 ? unmapped(value) : { width, value }
      found.set(`${address.width} ${address.value}`, address)
    }
  }
  return [...found.values()]
}

/** The same for every spelling of a range. */
export function rangeKey(cidr: string): string {
  const { width, first, last } = rangeOf(cidr)
  return `${width} ${first}-${last}`
}

/** What a policy with these rules says of the address. */
export function standingOf(rules: readonly AddressRule[], { width, value }: Address): Standing {
  let standing: Standing = standings.unmatchedWithoutAllow
  for (const { cidr, action } of rules) {
    const range = rangeOf(cidr)
    const matches = range.width === width && range.first <= value && value <= range.last
    if (action.toLowerCase() === 'deny') {
      if (matches) return standings.denied
    } else if (matches) standing = standings.allowed
    else if (standing === standings.unmatchedWithoutAllow) standing = standings.unmatched
  }
  return standing
}

/** Whether policies with these standings, taken together, admit an address. */
export function isAdmitted(each: readonly Standing[], withoutAllow: WithoutAllow): boolean {
  if (each.includes(standings.denied)) return false
  if (each.includes(standings.allowed)) return true
  return !each.includes(standings.unmatched) && withoutAllow === 'admitted'
}

/** For messages. */
export function textOf({ width, value }: Address): string {
  const [bits, radix, count] = width === 32 ? [8n, 10, 4] : [16n, 16, 8]
  const parts = Array.from({ length: count }, (_, index) => {
    return ((value >> (bits * BigInt(count - 1 - index))) & ((1n << bits) - 1n)).toString(radix)
  })
  return parts.join(width === 32 ? '.' : ':')
}

const ranges = new Map<string, Range>()

function rangeOf(cidr: string): Range {
  const known = ranges.get(cidr)
  if (known !== undefined) return known
  const [text = '', length] = cidr.split('/')
  const { width, value } = addressOf(text)
  const written = text.includes(':') ? 128 : 32
  const free = BigInt(length === undefined ? 0 : written - Number(length))
  // A range within the mapped addresses is one of IPv4; a wider one is not.
  const isWider = written === 128 && width === 32 && free > 32n
  const range = isWider ? between(128, value | MAPPED, free) : between(width, value, free)
  ranges.set(cidr, range)
  return range
}

function between(width: 32 | 128, value: bigint, free: bigint): Range {
  const first = (value >> free) << free
  return { width, first, last: first + (1n << free) - 1n }
}

const MAPPED = 0xffff_0000_0000n

function unmapped(value: bigint): Address {
  return value >> 32n === 0xffffn ? { width: 32, value: value & 0xffff_ffffn } : { width: 128, value }
}

function fourParts(text: string): readonly bigint[] {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) {
    throw new Error(`${text} is not an address`)
  }
  return parts.map(BigInt)
}

function pairOf([a = 0n, b = 0n, c = 0n, d = 0n]: readonly bigint[]): string {
  return `${((a << 8n) | b).toString(16)}:${((c << 8n) | d).toString(16)}`
}

function ofParts(parts: readonly bigint[], bits: bigint): bigint {
  return parts.reduce((value, part) => (value << bits) | part, 0n)
}
