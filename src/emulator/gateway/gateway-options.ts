import { isIP } from 'node:net'
import { OptionError } from '../choices/choices.ts'
import { cidr } from '../fields/cidr.ts'

/** How the emulator's data plane is started. */
export interface GatewayOptions {
  /** `host:port` of the SSH gateway; port 0 picks a free one. Default `127.0.0.1:2222`. */
  readonly sshListen?: string
  /** `host:port` where TLS edges listen. Default `127.0.0.1:4443`. */
  readonly tlsListen?: string
  /**
   * The address on which TCP edges listen. Default: each host name has one of its own in 127.0.0.0/8, so that two edges
   * can have one port.
   */
  readonly edgeAddress?: string
  /**
   * `host:port`, with an IPv4 address, where DNS queries for the names of edges are answered. Default: nowhere.
   */
  readonly dnsListen?: string
  /**
   * Address ranges whose connections to edges begin with a header of version 2 of the PROXY protocol, which names the
   * client. From elsewhere such a header is data. Default: none.
   */
  readonly proxies?: readonly string[]
  /** Receives a line for each event that a person may want to know of. Default: standard error. */
  readonly log?: GatewayLog
  readonly limits?: Partial<GatewayLimits>
}

/** One line, without a line break; nothing secret. */
export type GatewayLog = (line: string) => void

/**
 * What bounds the work and memory that others can cause (`docs/reliability.md § Abuse of the gateway`). Times are in
 * milliseconds.
 */
export interface GatewayLimits {
  /** From the connection of an SSH client until it is authenticated, and for each further exchange of keys. */
  readonly handshakeMs: number
  /** Clients that are not yet authenticated; one more ends the oldest of the source that has the most of them. */
  readonly handshakes: number
  /** The same from one source; one more ends its oldest. */
  readonly sourceHandshakes: number
  /** SSH clients that are authenticated; further ones are disconnected with a reason. */
  readonly sessions: number
  /** The same of one account, so that it leaves room for others. */
  readonly accountSessions: number
  /** Forwards of one SSH client. */
  readonly binds: number
  /** Bytes that wait for an SSH client to read them, beyond which it is disconnected. */
  readonly pendingBytes: number
  /** By how many bytes the windows of all connections through tunnels may exceed 64 KiB each. */
  readonly windowBytes: number
  /** Silence after which an SSH client is asked for a sign of life; after three without an answer it is dead. */
  readonly keepaliveMs: number
  /** For an agent to open a connection, before the next tunnel is tried. */
  readonly openMs: number
  /** Connections that an agent has been asked to open and has not answered; further ones try the next tunnel. */
  readonly unanswered: number
  /** For a proxy to name its client. */
  readonly headerMs: number
  /** For a client of a TLS edge to name its host, and then to complete the handshake. */
  readonly tlsMs: number
  /** How long connections of an edge that is gone may go on. */
  readonly drainMs: number
  /** Connections to edges at one time; further ones are closed. */
  readonly connections: number
  /** The same from one source, which a proxy is not, so that it leaves room for others. */
  readonly sourceConnections: number
  /** Ports that TCP edges listen on; further ones are not opened. */
  readonly listeners: number
  /** Lines that the traffic journal keeps. */
  readonly journal: number
}

export const LIMITS: GatewayLimits = {
  handshakeMs: 10_000,
  handshakes: 64,
  sourceHandshakes: 32,
  sessions: 1000,
  accountSessions: 250,
  binds: 100,
  pendingBytes: 4 * 1024 * 1024,
  windowBytes: 128 * 1024 * 1024,
  keepaliveMs: 8000,
  openMs: 5000,
  unanswered: 1000,
  headerMs: 5000,
  tlsMs: 10_000,
  drainMs: 30_000,
  connections: 10_000,
  sourceConnections: 5000,
  listeners: 4096,
  journal: 10_000,
}

/** Reads an IPv4 or IPv6 address. */
export function parseIpAddress(text: string): string {
  if (isIP(text) === 0) throw new OptionError(`IP address ${text}`, '127.0.0.1')
  return text
}

/** Reads an address range in CIDR notation, or an address, into canonical CIDR notation. */
export function parseIpRange(text: string): string {
  try {
    return cidr(text, 'range')
  } catch {
    throw new OptionError(`IP range ${text}`, '127.0.0.9/32')
  }
}

/** Reads `host:port` or `[ipv6]:port`. */
export function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  if (host === undefined || port > 65_535) throw new OptionError(`address ${text}`, '127.0.0.1:4040')
  return { host, port }
}
