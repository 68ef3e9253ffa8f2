import { createHash } from 'node:crypto'
import type { Random } from '../../util/random.ts'
import type { Choices } from '../choices/choices.ts'

/** In ASCII order, so that comparing two ids as bytes compares their numbers. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 27
/** KSUID epoch: 2014-05-13T16:53:20Z. */
const EPOCH_SECONDS = 1_400_000_000
const PAYLOAD_BITS = 128n
const PAYLOAD_LIMIT = 1n << PAYLOAD_BITS
const VALUE_BITS = 32n + PAYLOAD_BITS
const HEX_DIGITS = 40
const HEX_GROUPS = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{24})$/
const VALUE_DIGITS = 49
/** Digits of a prefix read as a number of base 36: six letters and digits. */
const PREFIX_DIGITS = 10
const NUMBER = /^\d{59}$/
const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})([0-9a-f]{8})$/
/** Hexadecimal digits of a UUID before those that hide the prefix. */
const UUID_DIGITS = 24

export type IdForm = Choices['ids']

/**
 * Makes KSUID-like ids: 32 bits of seconds, 128 bits of payload, 27 base-62 characters, or the same in another form.
 * The sequence is strictly increasing, even within a second and when the clock is set back, so that the order of ids is
 * the order of creation, which is then that of lists. Ids of the form `random` have no such order.
 */
export class IdSource {
  readonly #now: () => number
  readonly #random: Random
  readonly #form: () => IdForm
  #last: bigint

  /** @param now emulated time in milliseconds */
  constructor(now: () => number, random: Random, form: () => IdForm = () => 'ksuid') {
    this.#now = now
    this.#random = random
    this.#form = form
    this.#last = 0n
  }

  /** Makes every new id follow the id `after` too; an id from a seed, not made here, is ignored. */
  follow(after: string): void {
    const value = numberBehind(after)
    if (value !== undefined && value > this.#last) this.#last = value
  }

  /** Forgets the ids made before, for an emulator that starts over: what it then makes depends on nothing that was. */
  startOver(): void {
    this.#last = 0n
  }

  /** A fresh id, for example `next('ipp')` → `ipp_2KqTzDb…`. */
  next(prefix: string): string {
    const seconds = BigInt(Math.max(0, Math.floor(this.#now() / 1000) - EPOCH_SECONDS))
    // The top payload bit stays clear: room for 2^127 steps within one second.
    const fresh = seconds * PAYLOAD_LIMIT + (BigInt(`0x${this.#random.hex(16)}`) >> 1n)
    const step = 1n + BigInt(`0x${this.#random.hex(4)}`)
    const sameOrEarlierSecond = seconds <= this.#last / PAYLOAD_LIMIT
    this.#last = sameOrEarlierSecond ? this.#last + step : fresh
    return written(this.#form(), prefix, this.#last)
  }
}

/** All forms but `random` preserve the order of the numbers. */
function written(form: IdForm, prefix: string, value: bigint): string {
  switch (form) {
    case 'ksuid':
      return `${prefix}_${encode(value)}`
    case 'hex': {
      const digits = value.toString(16).padStart(HEX_DIGITS, '0')
      return `${prefix}_${digits.replace(HEX_GROUPS, '$1-$2-$3-$4')}`
    }
    case 'number': {
      const digits = String(Number.parseInt(prefix, 36)).padStart(PREFIX_DIGITS, '0')
      return `${value.toString().padStart(VALUE_DIGITS, '0')}${digits}`
    }
    case 'random': {
      const digits = digestOf(value.toString(16)).slice(0, UUID_DIGITS)
      const hidden = (Number.parseInt(prefix, 36) ^ maskOf(digits)) >>> 0
      return `${digits}${hidden.toString(16).padStart(8, '0')}`.replace(
        /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
        '$1-$2-$3-$4-$5',
      )
    }
  }
}

/** The number in an id, whatever its form; undefined for one that was not made here. */
function numberBehind(id: string): bigint | undefined {
  if (NUMBER.test(id)) return BigInt(id.slice(0, VALUE_DIGITS))
  const body = idBody(id)
  const digits = body.replaceAll('-', '')
  if (digits !== body && /^[0-9a-f]{40}$/.test(digits)) return BigInt(`0x${digits}`)
  return isIdBody(body) ? decode(body) : undefined
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** 32 bits that hide the prefix in a UUID. */
function maskOf(digits: string): number {
  return Number.parseInt(digestOf(digits).slice(0, 8), 16)
}

function encode(value: bigint): string {
  let rest = value
  let text = ''
  while (rest > 0n) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text.padStart(LENGTH, '0')
}

/** Whether `body` looks like one that this module made; seeds may contain other ids. */
export function isIdBody(body: string): boolean {
  return /^[0-9A-Za-z]{27}$/.test(body) && decode(body) < 1n << VALUE_BITS
}

function decode(text: string): bigint {
  let value = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit < 0) throw new RangeError(`not a base-62 id: ${text}`)
    value = value * 62n + BigInt(digit)
  }
  return value
}

/** The part of an id after its prefix. */
export function idBody(id: string): string {
  return id.slice(id.lastIndexOf('_') + 1)
}

/** The prefix of an id: `edgtcp` of `edgtcp_2Kq…`; for a number or a UUID, the prefix encoded in it. */
export function idPrefix(id: string): string {
  const uuid = UUID.exec(id)
  if (uuid !== null) {
    const digits = uuid.slice(1, -1).join('')
    return ((Number.parseInt(uuid.at(-1) ?? '', 16) ^ maskOf(digits)) >>> 0).toString(36)
  }
  if (NUMBER.test(id)) return Number(id.slice(VALUE_DIGITS)).toString(36)
  return id.slice(0, Math.max(0, id.lastIndexOf('_')))
}
