import { domainName, hostport } from '../../fields/hostname.ts'
import type { JsonObject } from '../../values/json.ts'
import { RequestError } from '../../values/request-error.ts'

/** What a forward binds, in the form that tunnels store: one member is set, the others are null. */
export interface Binding extends JsonObject {
  labels: { [key: string]: string } | null
  domain: string | null
  address: string | null
}

/** Longest text that a forward may bind, in characters. */
const LONGEST = 4096
/** The port of a domain, which has no other (`api-decisions.md § SSH gateway of the emulator`). */
const DOMAIN_PORT = 443

/**
 * Reads the address and port of a `tcpip-forward` (RFC 4254 § 7.1); a string says why it binds nothing. Pure.
 *
 * @param text labels such as `app=shop,version=1`, whose port means nothing; a domain, with port 443; or the host of an
 *   address, with its port
 * @param port 0 to 65535
 */
export function parseBind(text: string, port: number): Binding | string {
  if (text.length > LONGEST) return `names more than ${LONGEST} characters`
  if (text.includes('=')) return parseLabels(text)
  if (!text.includes('.')) {
    return `${JSON.stringify(text)} is neither labels (app=shop), a domain with port 443, nor an address with its port`
  }
  const name = read(() => domainName(text, 'bind'))
  if (name === undefined) return `${JSON.stringify(text)} is not a name`
  if (port === DOMAIN_PORT) return { labels: null, domain: name, address: null }
  const address = read(() => hostport(`${name}:${port}`, 'bind'))
  return address === undefined
    ? `${JSON.stringify(`${text}:${port}`)} is not an address host:port`
    : { labels: null, domain: null, address }
}

function parseLabels(text: string): Binding | string {
  const labels = new Map<string, string>()
  for (const pair of text.split(',')) {
    const split = pair.indexOf('=')
    const key = pair.slice(0, Math.max(0, split))
    if (key === '') return `${JSON.stringify(pair)} is not a label key=value`
    if (labels.has(key)) return `names the label ${JSON.stringify(key)} twice`
    labels.set(key, pair.slice(split + 1))
  }
  return { labels: Object.fromEntries(labels), domain: null, address: null }
}

function read(parse: () => string): string | undefined {
  try {
    return parse()
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}

/** The hostport that a bound name serves by itself; undefined for labels, which edges select. */
export function hostportOf({ domain, address }: Binding): string | undefined {
  return domain === null ? (address ?? undefined) : `${domain}:${DOMAIN_PORT}`
}
