import type { DnsRecord } from '../certificates/dns-table.ts'
import { SHOWN_STATUS } from '../certificates/provisioning.ts'
import { DESCRIBED, REGIONS, SHOWN_TEXTS } from '../fields/conventions.ts'
import { fixed, mandatory, optional } from '../fields/field.ts'
import { domainClass, ingressDomain } from '../fields/hostname.ts'
import { nullable, TEXT, TEXTS } from '../fields/json-schema.ts'
import type { Draft, Resource } from '../objects/resource.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/database.ts'
import { textOf, textsOf } from '../values/json.ts'
import {
  certificatePolicy,
  changesPolicy,
  isManaged,
  manageCertificate,
  managementDueAt,
  managementStatus,
  SHOWN_POLICY,
  startManaging,
} from './certificate-management.ts'

/** How many name servers a domain is delegated to. */
const NAME_SERVERS = 2

/**
 * Agent ingresses (`management-api.md § Domains, addresses, ingress`): a domain delegated to the service by NS records,
 * whose certificates are provisioned like those of reserved domains.
 */
export const agentIngresses: Resource = {
  path: 'agent_ingresses',
  listKey: 'ingresses',
  idPrefix: 'agin',
  eventName: 'agent_ingress',
  served: true,
  uriForm: 'path',
  fields: {
    ...DESCRIBED,
    domain: fixed(mandatory(ingressDomain)),
    certificate_management_policy: optional(certificatePolicy, null),
  },
  prepare: (draft, context) => {
    if (draft.before === undefined) draft.next.ns_targets = nameServers(draft.next, context)
    applyPolicy(draft, context)
  },
  claims: (ingress) => [{ scope: 'ingress-domain', value: textOf(ingress, 'domain'), field: 'domain' }],
  shows: {
    ...SHOWN_TEXTS,
    domain: TEXT,
    ns_targets: TEXTS,
    region_domains: TEXTS,
    certificate_management_policy: nullable(SHOWN_POLICY),
    certificate_management_status: nullable(SHOWN_STATUS),
  },
  render: (ingress) => ({
    description: textOf(ingress, 'description'),
    metadata: textOf(ingress, 'metadata'),
    domain: textOf(ingress, 'domain'),
    ns_targets: textsOf(ingress.ns_targets),
    region_domains: REGIONS.map((region) => `${region}.${textOf(ingress, 'domain')}`),
    certificate_management_policy: ingress.certificate_management_policy ?? null,
    certificate_management_status: managementStatus(ingress),
  }),
  dueAt: managementDueAt,
  onDue: manageCertificate(neededRecords),
  parts: [{ name: 'certificate_management_policy', clear: () => ({ certificate_management_policy: null }) }],
}

/** The name servers to which a custom domain is delegated; the service's own subdomains need no delegation. */
function nameServers(ingress: StoredObject, context: WriteContext): string[] {
  const { serviceDomain, random } = context.services
  if (domainClass(textOf(ingress, 'domain'), serviceDomain, 'domain') === 'service') return []
  const zone = random.hex(8)
  return Array.from({ length: NAME_SERVERS }, (_, index) => `ns${index + 1}.${zone}.ns.${serviceDomain}`)
}

function applyPolicy({ given, before, next }: Draft, context: WriteContext): void {
  if (changesPolicy(given, before)) next.certificate_state = startManaging(context)
  else if (!isManaged(next)) next.certificate_state = null
}

/** The records that must be published before a certificate can be issued: the whole delegation. */
function neededRecords(ingress: StoredObject): DnsRecord[] {
  const name = textOf(ingress, 'domain')
  return textsOf(ingress.ns_targets).map((value) => ({ name, type: 'NS', value }))
}
