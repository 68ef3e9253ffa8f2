import { printable } from '../util/printable.ts'

/** Where the administrator lets accounts point. */
export interface BaseURLPolicy {
  /**
   * `host`, `host:port`, `*.suffix` or `*.suffix:port`. Without a port, only the scheme's default port is allowed.
   * `*.suffix` matches every name below the suffix, not the suffix itself. IPv6 addresses are in brackets. An empty
   * list allows nothing. `http://host` and `http://host:port` allow plain http to that one host and port; all others
   * mean https.
   */
  readonly allowedHosts: readonly string[]
  /** Allows plain http to every host on the list, for local use. Default false. */
  readonly allowHTTP?: boolean
}

/** A base URL as the client uses it (no trailing slash), or why it is refused. */
export type BaseURLCheck =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly message: string }

/**
 * Decides whether an account may point at `url`: https unless plain http is allowed for its host; no user name,
 * password, query or fragment; and a host on the administrator's allow-list, so that a namespace user cannot point the
 * operator at an internal address. The message names the field, the value (never a password in it) and the remedy.
 */
export function checkBaseURL(url: string, policy: BaseURLPolicy): BaseURLCheck {
  if (!URL.canParse(url)) return refuse(shown(url), 'is not a URL: give one such as https://api.example.com')
  // The parser reads a backslash as a slash and drops line breaks; a person or another parser would see a different
  // host.
  if (/[\\\s\p{C}]/u.test(url)) {
    return refuse(shown(url), 'must hold no backslash, blank or invisible character: remove it')
  }
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.password !== '') {
    return refuse(
      bare(parsed),
      'must hold no user name or password: the key belongs in the Secret named by apiKeySecretRef',
    )
  }
  const isAllowed = policy.allowedHosts.some((pattern) => allows(pattern, parsed, policy.allowHTTP ?? false))
  if (parsed.protocol !== 'https:' && !(parsed.protocol === 'http:' && (isAllowed || policy.allowHTTP === true))) {
    const remedy =
      parsed.protocol === 'http:'
        ? `use https, or let the administrator add http://${parsed.host} to the allowed API hosts`
        : 'use https'
    return refuse(bare(parsed), `must be an https URL: ${remedy}`)
  }
  if (/[?#]/.test(url))
    return refuse(bare(parsed), 'must hold neither a query nor a fragment: remove what follows the path')
  if (!isAllowed) {
    return refuse(
      bare(parsed),
      `names a host that is not allowed: let the administrator add ${parsed.host} to the allowed API hosts`,
    )
  }
  return { ok: true, url: bare(parsed) }
}

/**
 * Whether the administrator allows `host:port`, for protocols other than HTTP: an entry of the list is as in
 * `allowedHosts`, with its port.
 */
export function allowsAddress(address: string, allowed: readonly string[]): boolean {
  const url = `https://${address}`
  return URL.canParse(url) && allowed.some((pattern) => allows(pattern, new URL(url), false))
}

function refuse(value: string, what: string): BaseURLCheck {
  return { ok: false, message: `baseURL: "${value}" ${what}` }
}

/** Origin and path only, without user name, password, query and fragment. */
function bare(url: URL): string {
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.protocol}//${url.host}${path}`
}

/** An unparsed value, made safe for a message; anything before an "@" may be a password. */
function shown(value: string): string {
  return printable(value.replace(/^.*@/s, '…@').slice(0, 200))
}

/** Whether one entry of the list lets an account point at `url`. */
function allows(pattern: string, url: URL, allowHTTP: boolean): boolean {
  const parts = PATTERN.exec(pattern.trim().toLowerCase())?.groups
  if (parts?.host === undefined) return false
  const isPlain = url.protocol === 'http:'
  if (parts.plain !== undefined ? !isPlain : isPlain && !allowHTTP) return false
  const defaultPort = isPlain ? '80' : '443'
  if ((parts.port ?? defaultPort) !== (url.port === '' ? defaultPort : url.port)) return false
  if (parts.wildcard === undefined) return url.hostname === parts.host
  return url.hostname.endsWith(`.${parts.host}`) && url.hostname.length > parts.host.length + 1
}

/** Plain http is allowed for a single named host, never for everything below a suffix. */
const PATTERN = /^(?:(?<plain>http:\/\/)|(?<wildcard>\*\.))?(?<host>\[[^\]]+\]|[^:*/]+)(?::(?<port>\d{1,5}))?$/

/** Whether two base URLs lead to the same API, as far as their text shows. */
export function isSameAddress(left: string, right: string): boolean {
  return normal(left) === normal(right)
}

function normal(address: string): string {
  return (URL.canParse(address) ? new URL(address).href : address).replace(/\/+$/, '')
}
