import type { FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.ts'
import { plainAddress } from '../fields/cidr.ts'
import type { Caller } from '../objects/write-context.ts'
import type { IpRestrictions } from '../restrictions/ip-restrictions.ts'

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
