import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** What to do with a request, before anything of it is used. */
export type Admission =
  | { readonly type: 'refused'; readonly status: 401 | 403 | 405 | 421; readonly text: string }
  /** The token was exchanged: the browser is sent to the same view without it. */
  | { readonly type: 'entered'; readonly cookie: string; readonly location: string }
  | { readonly type: 'admitted'; readonly url: URL }

/** What of a request is judged. */
export type Request = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/** Name of the parameter of the printed link. */
const TOKEN = 'token'

const REOPEN = 'Stop `culvert ui`, start it again, and open the link that it prints. Each link can be opened once.'

/**
 * Admits the browser that opened the printed link, and no other page or program (docs/decisions/0059): names that were
 * rebound to this machine by the Host header, other sites and other ports of this machine by Origin and Sec-Fetch-Site,
 * everyone else by the cookie.
 */
export class Gate {
  readonly #host: string
  readonly #cookie: string
  /** Undefined once it was exchanged. */
  #token: string | undefined

  /** @param secret returns a new unguessable value at each call */
  constructor(port: number, secret: () => string) {
    this.#host = `127.0.0.1:${port}`
    // Cookies are shared between ports: another page of `culvert ui` has one of its own.
    this.#cookie = `culvert-ui-${port}=${secret()}`
    this.#token = secret()
  }

  /** Address of the page, without the token. */
  get origin(): string {
    return `http://${this.#host}`
  }

  /** The link to print, which works once. */
  get link(): string {
    return `${this.origin}/?${TOKEN}=${this.#token ?? ''}`
  }

  /** Judges a request. */
  admit({ method, url = '/', headers }: Request): Admission {
    if (method !== 'GET') return refused(405, 'This page is read-only.')
    if (headers.host !== this.#host || !url.startsWith('/')) return refused(421, `This page is at ${this.origin} only.`)
    const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
    const site = headers['sec-fetch-site'] ?? 'same-origin'
    const isOwn = site === 'same-origin' || site === 'none' || isNavigation
    if (!isOwn || (headers.origin !== undefined && headers.origin !== this.origin)) {
      return refused(403, 'Requests from other pages are refused.')
    }
    const target = new URL(url, this.origin)
    // `//other.example/` is a path of this server, and as the target of a redirect it is another server.
    if (target.origin !== this.origin) return refused(403, 'Requests for other servers are refused.')
    const token = target.searchParams.get(TOKEN)
    if (token !== null) return this.#exchange(token, target, headers.cookie)
    return this.#hasCookie(headers.cookie) ? { type: 'admitted', url: target } : refused(401, REOPEN)
  }

  #exchange(token: string, target: URL, cookies: string | undefined): Admission {
    const isRight = this.#token !== undefined && isSame(token, this.#token)
    if (!isRight && !this.#hasCookie(cookies)) return refused(401, REOPEN)
    if (isRight) this.#token = undefined
    target.searchParams.delete(TOKEN)
    const cookie = `${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`
    return { type: 'entered', cookie, location: `${target.pathname}${target.search}` }
  }

  #hasCookie(cookies = ''): boolean {
    return cookies.split('; ').some((each) => isSame(each, this.#cookie))
  }
}

function refused(status: 401 | 403 | 405 | 421, text: string): Admission {
  return { type: 'refused', status, text }
}

function isSame(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
