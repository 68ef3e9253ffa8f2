import { ApiError, invalid } from './errors.ts'

/** Servers refuse longer request lines, and each page may give another address. */
const MAX_URL_LENGTH = 8192

/**
 * The address of the next page. `next` may be absolute or relative; it must stay on the account's own origin and below
 * the path of its base URL, because the key is sent with the request. A path outside the base URL's path, as an API
 * behind a gateway may give it, is taken as relative to the base URL, and so is one without a leading slash, as other
 * addresses are (`management-api.md § Domains, addresses, ingress`); only a query alone belongs to the current page.
 *
 * @throws ApiError HostNotAllowed for another origin or a path outside the base URL's; InvalidResponse for something
 * that is not a URL or is too long.
 */
export function nextPageURL(next: string, current: URL, base: URL, label: string): URL {
  if (next.length > MAX_URL_LENGTH) throw invalid(label, `next_page_uri is longer than ${MAX_URL_LENGTH} characters`)
  const from = /^[?#]/.test(next) ? current.href : `${base.href.replace(/\/+$/, '')}/`
  if (!URL.canParse(next, from)) throw invalid(label, 'next_page_uri is not a URL')
  const url = new URL(next, from)
  const isPath = next.startsWith('/') && !next.startsWith('//')
  const prefix = base.pathname.replace(/\/+$/, '')
  const below = url.pathname === prefix || url.pathname.startsWith(`${prefix}/`)
  if (isPath && !below) url.pathname = `${prefix}${url.pathname}`
  const foreign = foreignPart(url, base, below || isPath)
  if (foreign !== undefined) {
    throw new ApiError('HostNotAllowed', `${label}: next_page_uri leads ${foreign}; the key is not sent there`, {
      definite: false,
    })
  }
  url.hash = ''
  return url
}

/**
 * Which part of the address is not the account's. Words only, since the server chooses what the address itself
 * contains.
 */
function foreignPart(url: URL, base: URL, below: boolean): string | undefined {
  if (url.origin !== base.origin) return "to another scheme, host or port than the base URL's"
  if (url.username !== '' || url.password !== '') return 'to the base URL with a user name or password'
  return below ? undefined : 'outside the path of the base URL'
}

/** Whether a page failed because its cursor is no longer valid, so that only starting over helps. */
export function cursorLost(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.code === 'Invalid' || error.code === 'NotFound' || error.code === 'Conflict')
  )
}
