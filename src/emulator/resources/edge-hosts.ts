import { invalid } from '../errors.ts'
import { coveringNames } from '../fields/hostname.ts'
import { textsOf } from '../json.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/stored-object.ts'

/**
 * The id of the account's reserved address or domain that lets an edge listen on `hostport`: an address with exactly
 * that host and port, a domain of that name, or a wildcard one label above (`api-decisions.md § Behaviour`).
 */
function reservationOf(hostport: string, context: WriteContext): string | undefined {
  const host = hostport.slice(0, hostport.lastIndexOf(':'))
  const claims = [
    { scope: 'addr', value: hostport },
    ...coveringNames(host).map((name) => ({ scope: 'domain', value: name })),
  ]
  return claims.map((claim) => context.store.claimant(claim)).find((owner) => owner?.account === context.account)?.id
}

/** Whether the account has reserved the address, or the domain, of a hostport. */
export function isReserved(hostport: string, context: WriteContext): boolean {
  return reservationOf(hostport, context) !== undefined
}

/** Refuses hostports whose host the account has not reserved. */
export function checkHostports(edge: StoredObject, context: WriteContext): void {
  textsOf(edge.hostports).forEach((hostport, index) => {
    if (!isReserved(hostport, context)) {
      throw invalid(`hostports[${index}]`, `${hostport} is neither on a reserved domain nor a reserved address`)
    }
  })
}

/** Ids of the reservations for the edge's hostports. */
export function reservationsOf(edge: StoredObject, context: WriteContext): string[] {
  const found = textsOf(edge.hostports).map((hostport) => reservationOf(hostport, context))
  return found.filter((id) => id !== undefined)
}
