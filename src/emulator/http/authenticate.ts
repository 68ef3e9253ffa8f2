import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { plainAddress } from '../fields/cidr.ts'
import type { Caller } from '../objects/write-context.ts'
import type { IpRestrictions } from '../restrictions/ip-restrictions.ts'
import type { Store } from '../store/emulator-store.ts'
import { findToken } from '../store/tokens.ts'
import { RequestError } from '../values/request-error.ts'

/** The only version (`management-api.md § Authentication`). */
const VERSION = '2'

/** The caller that a token names, and whether its owner may call. */
type Identity = Caller & { readonly active: boolean }

/** What decides who a token's owner is, and what it may do. */
const DECISIVE: ReadonlySet<string> = new Set(['api_keys', 'users', 'bot_users'])

/**
 * Who sends requests, by their tokens. Every request asks twice, so known callers are kept until one of them changes.
 */
export class Callers {
  readonly #store: Store
  readonly #known = new Map<string, Identity>()

  constructor(store: Store) {
    this.#store = store
    store.changes.watch({
      changed: ({ collection }) => {
        if (DECISIVE.has(collection)) this.#known.clear()
      },
      cleared: () => this.#known.clear(),
    })
  }

  /** The sender, according to the bearer token; undefined when the token is missing, malformed or unknown. */
  identify(headers: IncomingHttpHeaders): Identity | undefined {
    const token = bearerToken(headers)
    if (token === undefined) return undefined
    const identity = this.#known.get(token) ?? ownerOf(this.#store, token)
    if (identity !== undefined) this.#known.set(token, identity)
    return identity
  }
}

function ownerOf(store: Store, token: string): Identity | undefined {
  const match = findToken(store, token)
  if (match === undefined) return undefined
  // Tokens of tunnel credentials are found here too, but are not API keys.
  const { account, id: keyId } = match
  const ownerId = store.get(account, 'api_keys', keyId)?.owner_id
  if (typeof ownerId !== 'string') return undefined
  const owner = store.get(account, 'users', ownerId) ?? store.get(account, 'bot_users', ownerId)
  return { account, keyId, ownerId, admin: owner?.admin === true, active: owner?.active !== false }
}

export function bearerToken(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** Refuses callers that are unknown (401, the same answer whatever the reason) or owned by an inactive bot (403). */
export function admit(caller: Identity | undefined): Caller {
  if (caller === undefined) {
    throw new RequestError(
      'unauthenticated',
      'the request needs an Authorization header with a valid bearer token',
      {},
      { 'www-authenticate': 'Bearer' },
    )
  }
  if (!caller.active) throw new RequestError('inactive', 'the bot user that owns this API key is not active')
  return caller
}

/** Refuses requests whose version header is missing or gives another version. `names` are lower-case header names. */
export function checkVersion(headers: IncomingHttpHeaders, names: readonly string[]): void {
  const given = names.map((name) => headers[name]).filter((value) => value !== undefined)
  if (given.length === 0) throw new RequestError('version', `the header ${names.join(' or ')} is required`)
  if (given.some((value) => value !== VERSION)) {
    throw new RequestError('version', `${names.join(' or ')} must be ${VERSION}`)
  }
}

export interface SourceOptions {
  /** The restrictions of type `api`. */
  readonly restrictions: IpRestrictions
  /** Whether the last address of X-Forwarded-For replaces the connection's. */
  readonly trustForwardedFor: boolean
}

/**
 * Checks the caller against the restrictions of type `api` of its own account (`api-decisions.md § Behaviour`): 403 if
 * an enforced one does not admit the source address, a `Warning` header if one that is not enforced does not.
 */
export function admitSource(
  request: FastifyRequest,
  reply: FastifyReply,
  { account }: Caller,
  options: SourceOptions,
): void {
  const address = sourceAddress(request, options.trustForwardedFor)
  const { enforced, warnings } = options.restrictions.judge(account, address)
  if (warnings.length > 0) {
    const values = warnings.map((id) => `299 - "the IP restriction ${id} does not admit this address"`)
    reply.header('warning', values.join(', '))
  }
  if (enforced.length > 0) {
    throw new RequestError('sourceRefused', `the IP restriction ${enforced.join(', ')} does not admit ${address}`, {
      ids: enforced.join(','),
      address,
    })
  }
}

/** Source address of the request: without the zone of link-local addresses, and with IPv4-mapped addresses as IPv4. */
function sourceAddress(request: FastifyRequest, trustForwardedFor: boolean): string {
  const forwarded = trustForwardedFor ? request.headers['x-forwarded-for'] : undefined
  // The proxy in front appends the address it saw; everything before that is the client's own claim.
  const last = [forwarded].flat().at(-1)?.split(',').at(-1)?.trim()
  return plainAddress(last ?? request.raw.socket.remoteAddress ?? '')
}
