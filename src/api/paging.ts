import { ApiError } from './errors.ts'

/**
 * The address of the next page. `next` may be absolute or relative; it must stay on the account's own origin and below
 * the path of its base URL, because the key goes with the request. A path without the base URL's own path, as an API
 * behind a gateway gives it, is taken as relative to the base URL.
 *
 * @throws ApiError HostNotAllowed for another origin or a path outside the base URL's, InvalidResponse for no URL at all.
 */
export function nextPageURL(next: string, current: URL, base: URL, label: string): URL {
  if (!URL.canParse(next, current.href)) {
    throw new ApiError('InvalidResponse', `${label}: next_page_uri is not a URL`, { definite: false })
  }
  const url = new URL(next, current.href)
  const isPath = next.startsWith('/') && !next.startsWith('//')
  const prefix = base.pathname.replace(/\/+$/, '')
  const below = url.pathname === prefix || url.pathname.startsWith(`${prefix}/`)
  if (isPath && !below) url.pathname = `${prefix}${url.pathname}`
  const allowed = url.origin === base.origin && url.username === '' && url.password === '' && (below || isPath)
  if (!allowed) {
    throw new ApiError(
      'HostNotAllowed',
      `${label}: next_page_uri leads away from the base URL, to ${url.origin}; the key is not sent there`,
      { definite: false },
    )
  }
  url.hash = ''
  return url
}

/** Whether a page failed because its cursor is gone, so that only starting over helps. */
export function cursorLost(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.code === 'Invalid' || error.code === 'NotFound' || error.code === 'Conflict')
  )
}
