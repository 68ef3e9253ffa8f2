/*
 * The header with which a proxy in front of an edge names the client: version 2 of the PROXY protocol
 * (`https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt`, § 2.2). Pure.
 */
import { BlockList } from 'node:net'
import type { Beginning } from './first-bytes.ts'

/** The client that a proxy speaks for; undefined for a connection of the proxy itself, such as a health check. */
export type ProxiedSource = { readonly address: string; readonly port: number } | undefined

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n')
/** Signature, version and command, family and protocol, length. */
const FIXED = 16
/** More is no sensible header, and is not kept in memory: addresses and a few extensions. */
const LONGEST = 2048
const VERSION = 2
const LOCAL = 0
const PROXY = 1
/** Families with TCP, and the length of one of their addresses. */
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 17: 4, 33: 16 }

const INCOMPLETE = { kind: 'incomplete' } as const
const MALFORMED = { kind: 'malformed' } as const

/** Reads as much of a header as has arrived. Extensions are skipped. */
export function readProxyHeader(bytes: Buffer): Beginning<ProxiedSource> {
  const known = Math.min(bytes.length, SIGNATURE.length)
  if (!bytes.subarray(0, known).equals(SIGNATURE.subarray(0, known))) return MALFORMED
  if (bytes.length < FIXED) return INCOMPLETE
  const command = bytes.readUInt8(12)
  const family = bytes.readUInt8(13)
  const length = FIXED + bytes.readUInt16BE(14)
  if (command >> 4 !== VERSION || length > LONGEST) return MALFORMED
  const addressBytes = ADDRESS_BYTES[family]
  const isProxied = (command & 0xf) === PROXY
  // A proxy that speaks for somebody says for whom: without, nobody could be judged.
  if (isProxied && (addressBytes === undefined || length < FIXED + 2 * addressBytes + 4)) return MALFORMED
  if (!isProxied && (command & 0xf) !== LOCAL) return MALFORMED
  if (bytes.length < length) return INCOMPLETE
  if (!isProxied || addressBytes === undefined) return { kind: 'found', value: undefined, length }
  const address = bytes.subarray(FIXED, FIXED + addressBytes)
  const port = bytes.readUInt16BE(FIXED + 2 * addressBytes)
  return { kind: 'found', value: { address: addressText(address), port }, length }
}

function addressText(address: Buffer): string {
  if (address.length === 4) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, index) => address.readUInt16BE(2 * index).toString(16))
  return groups.join(':')
}

/** Whether connections from an address begin with the header. @param ranges as `parseIpRange` returns them */
export function proxyCheck(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (address) => ranges.length > 0 && list.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}
