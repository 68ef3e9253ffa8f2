/** What a tunnel binds at the gateway, as a `tcpip-forward` names it (RFC 4254 § 7.1). */
export interface Bind {
  /** Labels `app=shop,version=1`, a domain, or the host of an address. */
  readonly text: string
  /** 443 for a domain, the port of an address; 1 for labels, where it means nothing. */
  readonly port: number
}

/** Where connections through a tunnel end. */
export interface Target {
  /** A DNS name, resolved for each connection, or an IP address. */
  readonly host: string
  readonly port: number
}

export interface Forward {
  /** As given: for messages and metrics. */
  readonly name: string
  readonly bind: Bind
  readonly target: Target
}

/** Labels have no port, but the protocol asks for one; 0 would let the gateway choose. */
const LABELS_PORT = 1
const HOST_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]+)):([1-9]\d{0,4})$/

/**
 * Reads `BIND=HOST:PORT`. BIND is labels (`app=shop,version=1`), a domain (`shop.example.com:443`) or an address
 * (`1.tcp.us.tunnel.example:12345`); HOST is a name, an IPv4 address or an IPv6 address in brackets. A string says what
 * is wrong.
 */
export function parseForward(text: string): Forward | string {
  const at = text.lastIndexOf('=')
  if (at <= 0) return `${JSON.stringify(text)} is not BIND=HOST:PORT, such as app=shop=shop.default.svc:80`
  const name = text.slice(0, at)
  const target = parseHostPort(text.slice(at + 1))
  if (target === undefined) return `${JSON.stringify(text.slice(at + 1))} is not HOST:PORT, such as shop.default.svc:80`
  const bind = parseBind(name)
  return typeof bind === 'string' ? bind : { name, bind, target }
}

/**
 * Reads all forwards of an agent. The gateway tells connections apart by what they were bound with, so each is bound
 * once. A string says what is wrong.
 */
export function parseForwards(texts: readonly string[]): readonly Forward[] | string {
  const forwards = new Map<string, Forward>()
  for (const text of texts) {
    const forward = parseForward(text)
    if (typeof forward === 'string') return forward
    const key = bindKey(forward.bind.text, forward.bind.port)
    if (forwards.has(key)) return `${JSON.stringify(forward.name)} is bound twice`
    forwards.set(key, forward)
  }
  return forwards.size === 0 ? 'there is no forward' : [...forwards.values()]
}

/** Identifies a forward among those of a connection. */
export function bindKey(text: string, port: number): string {
  return `${port} ${text}`
}

/** Reads `host:port` or `[ipv6]:port`; undefined if it is neither. */
export function parseHostPort(text: string): Target | undefined {
  const match = HOST_PORT.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  return host === undefined || port > 65_535 ? undefined : { host, port }
}

/** The text that `parseHostPort` reads. */
export function hostPort({ host, port }: Target): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function parseBind(text: string): Bind | string {
  if (text.includes('=')) return { text, port: LABELS_PORT }
  const named = parseHostPort(text)
  if (named !== undefined) return { text: named.host, port: named.port }
  return `${JSON.stringify(text)} must be labels (app=shop), a domain with port 443, or an address with its port`
}
