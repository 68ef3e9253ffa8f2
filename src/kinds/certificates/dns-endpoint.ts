import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { CommonSpec, Fields } from '../../managed/descriptor/common.ts'
import type { Companion } from '../../managed/descriptor/output.ts'
import { bool, integer, object } from '../../schema/define.ts'
import { experimental } from '../../schema/definition.ts'
import { coversDomain } from '../../util/domain-pattern.ts'
import { CHALLENGE, DNS_RECORD_TYPES, type DNSRecord } from './dns.ts'
import type { NeededRecords } from './readiness.ts'

/** Largest TTL of DNS (RFC 2181, section 8). */
const LONGEST_TTL = 2_147_483_647

const BY_HAND = 'take spec.dns.endpoint out and make the records of status.dnsRecords yourself'

const dns = object(
  {
    endpoint: Type.Optional(
      bool({
        description:
          'Whether Culvert creates a DNSEndpoint with the name of this resource, from which ExternalDNS creates the records. The administrator must allow this for the domain. An existing DNSEndpoint with that name is refused. Default: false.',
      }),
    ),
    recordTTL: Type.Optional(
      integer({
        description:
          'Time to live of the records in the DNSEndpoint, in seconds. Default: as configured in ExternalDNS.',
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
    'The DNSEndpoint holds the records that the domain needs. Absent unless `dns.endpoint` asks for one. Does not report whether ExternalDNS has created the records.',
} as const

interface AsksForDNS extends CommonSpec {
  readonly domain: string
  readonly dns?: { readonly endpoint?: boolean; readonly recordTTL?: number }
}

/** `records`, and how they are created. */
export function neededRecords({ dns: asked }: Pick<AsksForDNS, 'dns'>, records: readonly DNSRecord[]): NeededRecords {
  return { records, byEndpoint: asked?.endpoint ?? false }
}

/** `coversDomain` in CEL, for a domain's records and for its challenge record. */
const covers = (name: string): string =>
  `(pattern.startsWith('*.') ? ${name}.endsWith(pattern.substring(1)) && ${name}.size() > pattern.size() - 1 : ${name} == pattern)`
const RECORD_TYPES = DNS_RECORD_TYPES.map((type) => `'${type}'`).join(', ')
/** Whether others have set a field of a record that stays, such as a setting of a DNS provider. */
const KEPT =
  '(oldObject != null && oldObject.?spec.?endpoints.orValue([]).exists(before, before.dnsName == each.dnsName' +
  ' && before.?recordType == each.?recordType && before[?key] == each[?key]))'
/** Records that were published before may stay. */
const admitted = {
  rule:
    "(object.?spec.orValue({}).all(key, key == 'endpoints' || (oldObject != null && oldObject.?spec[?key] == object.spec[?key]))" +
    ' && object.?spec.?endpoints.orValue([]).all(each, (oldObject != null && each in oldObject.?spec.?endpoints.orValue([]))' +
    ` || (each.all(key, key in ['dnsName', 'recordTTL', 'recordType', 'targets'] || ${KEPT}) && each.recordType in [${RECORD_TYPES}] && variables.dnsDomains.exists(pattern, ${covers('each.dnsName')}` +
    ` || (each.dnsName.startsWith('${CHALLENGE}') && ${covers(`each.dnsName.substring(${CHALLENGE.length})`)})))))`,
  message: `publishes only ${DNS_RECORD_TYPES.join(' and ')} records, and only for the domains that DNSEndpoints may publish`,
}

/**
 * The DNSEndpoint of ExternalDNS (`externaldns.k8s.io/v1alpha1`) with the records from `recordsOf`. Record names come
 * from the spec, never from the API, because the administrator allows domains by the names in the spec.
 */
export function dnsEndpoint<Spec extends AsksForDNS>(
  recordsOf: (spec: Spec, remote: RemoteObject) => readonly DNSRecord[],
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
    remedy: `install the CRD of ExternalDNS, or ${BY_HAND}`,
    toRemove: 'remove dns.endpoint to have it deleted',
    notNeeded: 'a domain of the service needs no records',
    fields: { asks: ['dns', 'endpoint'], names: ['domain'] },
    admitted,
    isWanted: ({ dns: asked }) => asked?.endpoint ?? false,
    notAllowed: ({ domain }, { enabled, domains }) => {
      if (!enabled) {
        return `spec.dns.endpoint asks for a DNSEndpoint, but the operator creates none. Ask its administrator for --dns-endpoints (dnsEndpoints.enabled of the chart) with ${domain} in --dns-domains, or ${BY_HAND}`
      }
      if (domains.some((pattern) => coversDomain(pattern, domain))) return undefined
      return `spec.domain ${domain} is not among the domains that DNSEndpoints may publish. Ask the administrator to add it to --dns-domains (dnsEndpoints.domains of the chart), or ${BY_HAND}`
    },
    content: (spec, remote, { endpoints }) => {
      const wanted = endpointsOf(recordsOf(spec, remote), spec.dns?.recordTTL)
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

/** One for each name and type, with all its values. */
function endpointsOf(records: readonly DNSRecord[], recordTTL: number | undefined): readonly Endpoint[] {
  const endpoints = new Map<string, Endpoint>()
  for (const { name: dnsName, type, value } of records) {
    const targets = endpoints.get(`${dnsName} ${type}`)?.targets ?? []
    const ttl = recordTTL === undefined ? {} : { recordTTL }
    const endpoint = { dnsName, recordType: type, targets: [...targets, value], ...ttl }
    endpoints.set(`${dnsName} ${type}`, endpoint)
  }
  return [...endpoints.values()]
}

/** The endpoint with what others have added to it: labels and settings of a DNS provider. */
function extended(endpoint: Endpoint, found: unknown): Fields {
  const others = Array.isArray(found) ? (found as readonly Fields[]) : []
  const before = others.find(({ dnsName, recordType }) => {
    return dnsName === endpoint.dnsName && recordType === endpoint.recordType
  })
  const { recordTTL: _, ...rest } = before ?? {}
  return { ...rest, ...endpoint }
}
