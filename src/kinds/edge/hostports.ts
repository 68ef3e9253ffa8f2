import type { RemoteObject } from '../../api/types.ts'
import type { AccessNeeds } from '../../managed/descriptor/access.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import type { FoundReference, NamedValue } from '../../managed/descriptor/references.ts'
import { textOf, textsOf } from '../building-blocks/remote.ts'
import { chosen } from '../building-blocks/spec-fields.ts'
import { wildcardAbove } from '../certificates/domain-name.ts'
import type { EdgeSpec } from './edge-schema.ts'

type Hostport = NonNullable<EdgeSpec['hostports']>[number]

/** The API returned a referenced object without a field that the edge needs, contrary to the contract. */
class TargetIncompleteError extends Error {
  override readonly name = 'TargetIncompleteError'
  readonly code = 'TARGET_INCOMPLETE'

  constructor(path: string, field: string) {
    super(`${path}: the API returned the object without its ${field}`)
  }
}

export function hostportReferences({ hostports }: EdgeSpec): readonly FoundReference[] {
  return (hostports ?? []).flatMap(({ reservedDomainRef, reservedAddressRef }, index): FoundReference[] => {
    const path = `spec.hostports[${index}]`
    if (reservedDomainRef !== undefined) {
      const ref = reservedDomainRef
      return [{ path: `${path}.reservedDomainRef`, kind: 'ReservedDomain', ref, needsObject: true }]
    }
    if (reservedAddressRef !== undefined) {
      const ref = reservedAddressRef
      return [{ path: `${path}.reservedAddressRef`, kind: 'ReservedAddress', ref, needsObject: true }]
    }
    return []
  })
}

/**
 * The hosts that a spec names literally, and which reservation the API finds for each: an address with exactly that
 * host and port, since all addresses may share one host; else the domain itself; else a wildcard above it.
 */
export function literalHosts({ hostports = [] }: EdgeSpec): readonly NamedValue[] {
  return hostports.flatMap(({ host, port }, index): NamedValue[] => {
    if (host === undefined) return []
    const name = host.toLowerCase()
    const targets = [
      { kind: 'ReservedAddress', value: `${name}:${port}` },
      { kind: 'ReservedDomain', value: name },
      { kind: 'ReservedDomain', value: wildcardAbove(name) },
    ]
    return [{ path: `spec.hostports[${index}].host`, value: name, targets }]
  })
}

/** The `host:port` texts to send, each once: two entries may resolve to the same. */
export function hostportTexts(desired: Desired<EdgeSpec>): readonly string[] {
  const texts = (desired.spec.hostports ?? []).map((hostport, index) => hostportText(desired, hostport, index))
  return [...new Set(texts)]
}

/** @throws TargetIncompleteError @throws MissingMemberError */
function hostportText(desired: Desired<EdgeSpec>, hostport: Hostport, index: number): string {
  const place = `spec.hostports[${index}]`
  switch (hostport.type) {
    case 'Host':
      return `${chosen(hostport.host, `${place}.host`)}:${hostport.port}`
    case 'ReservedDomain': {
      const path = `${place}.reservedDomainRef`
      const { object } = desired.target('ReservedDomain', chosen(hostport.reservedDomainRef, path))
      return `${named(object, 'domain', path)}:${hostport.port}`
    }
    case 'ReservedAddress': {
      const path = `${place}.reservedAddressRef`
      const { object } = desired.target('ReservedAddress', chosen(hostport.reservedAddressRef, path))
      return named(object, 'addr', path)
    }
  }
}

function named(object: RemoteObject | undefined, field: string, path: string): string {
  const value = textOf(object?.[field])
  if (value === undefined) throw new TargetIncompleteError(path, field)
  return value.toLowerCase()
}

/**
 * The domains that the edge listens on. Reserved addresses are the service's own names and do not count; the domain
 * behind a reference comes from its object.
 */
export function hostportNeeds({ hostports = [] }: EdgeSpec, desired?: Desired<EdgeSpec>): AccessNeeds {
  const domains = hostports.flatMap(({ host, reservedDomainRef }, index) => {
    const place = `spec.hostports[${index}]`
    if (host !== undefined) return [{ path: `${place}.host`, domain: host.toLowerCase() }]
    if (reservedDomainRef === undefined || desired === undefined) return []
    const path = `${place}.reservedDomainRef`
    return [{ path, domain: named(desired.target('ReservedDomain', reservedDomainRef).object, 'domain', path) }]
  })
  return { domains }
}

/** The domains on which the edge listens, or whose wildcard covers a host of it. */
export function domainsUsed(edge: RemoteObject): readonly string[] {
  return textsOf(edge.hostports).flatMap((hostport) => {
    const host = hostport.slice(0, hostport.lastIndexOf(':')).toLowerCase()
    return [host, wildcardAbove(host)]
  })
}

/** The addresses on which the edge listens. */
export function addressesUsed(edge: RemoteObject): readonly string[] {
  return textsOf(edge.hostports).map((hostport) => hostport.toLowerCase())
}
