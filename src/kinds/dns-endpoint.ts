import { Type } from 'typebox'
import type { RemoteObject } from '../api/types.ts'
import type { CommonSpec } from '../managed/types/common.ts'
import type { Companion } from '../managed/types/companion.ts'
import type { Fields } from '../managed/types/descriptor.ts'
import { bool, integer, object } from '../schema/define.ts'
import { experimental } from '../schema/experimental.ts'
import type { DNSRecord } from './certificate-dns.ts'

/** Largest TTL of DNS (RFC 2181, section 8). */
const LONGEST_TTL = 2_147_483_647

const dns = object(
  {
    endpoint: Type.Optional(
      bool({
        description:
          'Whether Culvert keeps a DNSEndpoint with the name of this resource, from which ExternalDNS creates the records. An existing one is refused. Default: false.',
      }),
    ),
    recordTTL: Type.Optional(
      integer({
        description: 'Time to live of these records in seconds. Default: that of ExternalDNS.',
        minimum: 1,
        maximum: LONGEST_TTL,
      }),
    ),
  },
  { description: experimental('How the DNS records that the domain needs are created.'), atomic: true },
)

/** Spec field of kinds that need DNS records. */
export const dnsSpec = { dns: Type.Optional(dns) }

/** The condition of such kinds, for their pages. */
export const dnsEndpointCondition = {
  type: 'DNSEndpointReady',
  description:
    'The DNSEndpoint holds the records that the domain needs; absent unless `dns.endpoint` asks for one. What ExternalDNS makes of it is not looked at.',
} as const

interface AsksForDNS extends CommonSpec {
  readonly dns?: { readonly endpoint?: boolean; readonly recordTTL?: number }
}

/** The DNSEndpoint of ExternalDNS (`externaldns.k8s.io/v1alpha1`) with the records that `recordsOf` names. */
export function dnsEndpoint<Spec extends AsksForDNS>(
  recordsOf: (remote: RemoteObject) => readonly DNSRecord[],
): Companion<Spec> {
  return {
    type: {
      group: 'externaldns.k8s.io',
      version: 'v1alpha1',
      plural: 'dnsendpoints',
      kind: 'DNSEndpoint',
      namespaced: true,
    },
    condition: dnsEndpointCondition.type,
    remedy:
      'install the CRD of ExternalDNS, or take spec.dns.endpoint out and make the records of status.dnsRecords yourself',
    notNeeded: 'a domain of the service needs no records',
    isWanted: ({ dns: asked }) => asked?.endpoint ?? false,
    content: ({ dns: asked }, remote, { endpoints }) => {
      const wanted = endpointsOf(recordsOf(remote), asked?.recordTTL)
      return wanted.length === 0 ? undefined : { endpoints: wanted.map((endpoint) => extended(endpoint, endpoints)) }
    },
  }
}

interface Endpoint {
  readonly dnsName: string
  readonly recordType: string
  readonly targets: readonly string[]
  readonly recordTTL?: number
}

/** One for each name and type, with all its values. ExternalDNS refuses names that end in a dot. */
function endpointsOf(records: readonly DNSRecord[], recordTTL: number | undefined): readonly Endpoint[] {
  const endpoints = new Map<string, Endpoint>()
  for (const { name, type, value } of records) {
    const dnsName = withoutDot(name)
    const targets = endpoints.get(`${dnsName} ${type}`)?.targets ?? []
    const ttl = recordTTL === undefined ? {} : { recordTTL }
    const endpoint = { dnsName, recordType: type, targets: [...targets, withoutDot(value)], ...ttl }
    endpoints.set(`${dnsName} ${type}`, endpoint)
  }
  return [...endpoints.values()]
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}

/** The endpoint with what others have said of it: labels and settings of a DNS provider. */
function extended(endpoint: Endpoint, found: unknown): Fields {
  const others = Array.isArray(found) ? (found as readonly Fields[]) : []
  const before = others.find(({ dnsName, recordType }) => {
    return dnsName === endpoint.dnsName && recordType === endpoint.recordType
  })
  const { recordTTL: _, ...rest } = before ?? {}
  return { ...rest, ...endpoint }
}
