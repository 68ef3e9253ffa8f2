import { ServiceParts } from '../../managed/services/parts.ts'
import type { ReconcilersOptions } from '../controller-parts.ts'
import { refreshWatches } from '../watches.ts'
import { AccountClaims } from './account-claims.ts'
import { Gate } from './gate.ts'
import { Owners } from './owners.ts'
import { Rivals } from './rivals.ts'
import { Selection } from './selection.ts'

/** What decides which accounts an operator works on, and holds the others back. */
export interface Division {
  readonly claims: AccountClaims
  readonly gate: Gate
  readonly owners: Owners
  /** What Services own; undefined if none are served. */
  readonly parts: ServiceParts | undefined
}

/** @param parts its watches have been synced, with the lists of this term */
export function openDivision(parts: ReconcilersOptions): Division {
  const { options, kinds, store, watches, kube, clock, random, turns, metrics } = parts
  const { namespace, name, selectors = {}, logger } = options
  const selection = new Selection(selectors, (each) => store.namespace(each))
  const claims = new AccountClaims({
    self: { operator: `${namespace}/${name}`, term: random.hex(8) },
    selection,
    kinds,
    store,
    watches,
    kube,
    rivals: new Rivals({ kube, clock, logger, namespace }),
    refresh: (since) => refreshWatches(watches, since, clock),
    metrics: { claimedElsewhere: (account, operator) => metrics.setClaimedElsewhere(account, operator) },
    requestTimeoutMs: options.requestTimeoutMs,
    clock,
    random,
    logger,
  })
  const owned = watches.services === undefined ? undefined : new ServiceParts(watches)
  const owners = new Owners({ kinds, store, watches, parts: (service) => owned?.of(service) ?? [] })
  return { claims, gate: new Gate(claims, store, { clock, turns }), owners, parts: owned }
}
