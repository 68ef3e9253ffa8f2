import type { DnsRecord } from '../certificates/dns-table.ts'
import { SHOWN_STATUS } from '../certificates/provisioning.ts'
import type { Choices } from '../choices/choices.ts'
import { DESCRIBED, id, REGIONS, SHOWN_TEXTS } from '../fields/conventions.ts'
import { fixed, mandatory, optional, updateOnly } from '../fields/field.ts'
import { domainClass, domainName } from '../fields/hostname.ts'
import { nullable, REF, TEXT } from '../fields/json-schema.ts'
import { oneOf } from '../fields/readers.ts'
import type { Draft, Resource } from '../objects/resource.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/database.ts'
import { isJsonObject, type JsonObject, textOf } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'
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

/**
 * Reserved domains. `certificate_id` is the certificate in use, uploaded or automatic (`certificate_automatic`);
 * `certificate_state` is the progress of automatic management. `api-decisions.md § Behaviour` decides which fields are
 * fixed, exclusive and cleared.
 */
export const reservedDomains: Resource = {
  path: 'reserved_domains',
  listKey: 'reserved_domains',
  idPrefix: 'rd',
  eventName: 'reserved_domain',
  served: true,
  fields: {
    ...DESCRIBED,
    domain: fixed(mandatory(domainName)),
    region: fixed(optional(oneOf(...REGIONS), null)),
    certificate_id: optional(id, null),
    certificate_management_policy: optional(certificatePolicy, null),
    http_endpoint_configuration_id: updateOnly(optional(id, null)),
    https_endpoint_configuration_id: updateOnly(optional(id, null)),
  },
  prepare: (draft, context) => {
    checkReferences(draft, context)
    if (draft.before === undefined) assignTargets(draft.next, context)
    refuseBoth(draft, context.services.choices)
    applyCertificate(draft, context)
  },
  claims: (domain) => [{ scope: 'domain', value: textOf(domain, 'domain'), field: 'domain' }],
  shows: {
    ...SHOWN_TEXTS,
    domain: TEXT,
    region: nullable(oneOf(...REGIONS).schema),
    cname_target: nullable(TEXT),
    certificate: nullable(REF),
    certificate_management_policy: nullable(SHOWN_POLICY),
    certificate_management_status: nullable(SHOWN_STATUS),
    acme_challenge_cname_target: nullable(TEXT),
    http_endpoint_configuration: nullable(REF),
    https_endpoint_configuration: nullable(REF),
  },
  render: (domain, view) => ({
    description: textOf(domain, 'description'),
    metadata: textOf(domain, 'metadata'),
    domain: textOf(domain, 'domain'),
    region: domain.region ?? null,
    cname_target: domain.cname_target ?? null,
    certificate: view.ref(domain.certificate_id),
    certificate_management_policy: domain.certificate_management_policy ?? null,
    certificate_management_status: managementStatus(domain),
    acme_challenge_cname_target: domain.acme_challenge_cname_target ?? null,
    http_endpoint_configuration: view.ref(domain.http_endpoint_configuration_id),
    https_endpoint_configuration: view.ref(domain.https_endpoint_configuration_id),
  }),
  dueAt: managementDueAt,
  onDue: manageCertificate(neededRecords),
  parts: [
    { name: 'certificate', clear: clearCertificate },
    { name: 'certificate_management_policy', clear: () => ({ certificate_management_policy: null }) },
    { name: 'http_endpoint_configuration', clear: () => ({ http_endpoint_configuration_id: null }) },
    { name: 'https_endpoint_configuration', clear: () => ({ https_endpoint_configuration_id: null }) },
  ],
}

function checkReferences({ given }: Draft, context: WriteContext): void {
  const { certificate_id } = given
  if (typeof certificate_id === 'string') context.resolve(['tls_certificates'], certificate_id, 'certificate_id')
  for (const name of ['http_endpoint_configuration_id', 'https_endpoint_configuration_id']) {
    const configuration = given[name]
    if (typeof configuration === 'string') context.resolve(['endpoint_configurations'], configuration, name)
  }
}

/** Custom domains get CNAME targets; subdomains of the service's own domain need none. */
function assignTargets(domain: StoredObject, context: WriteContext): void {
  const { serviceDomain, random } = context.services
  const name = textOf(domain, 'domain')
  const base = name.replace(/^\*\./, '')
  const custom = domainClass(base, serviceDomain, 'domain') === 'custom'
  domain.cname_target = custom ? `${random.hex(8)}.cname.${serviceDomain}` : null
  domain.acme_challenge_cname_target = custom && name !== base ? `${random.hex(8)}.acme.${serviceDomain}` : null
}

/** An uploaded certificate and automatic management are mutually exclusive: in a body, or in the resulting object. */
function refuseBoth({ given, before }: Draft, choices: Choices): void {
  const held = choices['certificate-exclusivity'] === 'object' ? before : undefined
  const uploaded = held?.certificate_automatic === true ? null : held?.certificate_id
  const certificate = given.certificate_id === undefined ? uploaded : given.certificate_id
  const policy =
    given.certificate_management_policy === undefined
      ? held?.certificate_management_policy
      : given.certificate_management_policy
  if (typeof certificate !== 'string' || !isJsonObject(policy)) return
  throw new RequestError('exclusiveFields', 'certificate_id and certificate_management_policy exclude each other', {
    field: 'certificate_id',
  })
}

/** Setting one of the two clears the other. */
function applyCertificate({ given, before, next }: Draft, context: WriteContext): void {
  const uploads = typeof given.certificate_id === 'string'
  if (uploads) {
    Object.assign(next, { certificate_automatic: false, certificate_management_policy: null, certificate_state: null })
  } else if (changesPolicy(given, before)) {
    // An automatic certificate stays in use while the next one is issued; an uploaded one is removed.
    next.certificate_id = before?.certificate_automatic === true ? (before.certificate_id ?? null) : null
    next.certificate_state = startManaging(context)
  } else if (next.certificate_management_policy === null) {
    next.certificate_state = null
    const goes = context.services.choices['certificate-after-policy'] === 'goes'
    if (goes && before?.certificate_automatic === true && isManaged(before)) next.certificate_id = null
  } else if (given.certificate_id === null && next.certificate_automatic === true) {
    // `certificate_id` in a body is the uploaded certificate; under automatic management there is none to clear.
    next.certificate_id = before?.certificate_id ?? null
  }
}

function clearCertificate(domain: StoredObject, context: WriteContext): JsonObject {
  return {
    certificate_id: null,
    certificate_automatic: false,
    certificate_state: isManaged(domain) ? startManaging(context) : null,
  }
}

/** The records that must be published before a certificate can be issued. */
function neededRecords(domain: StoredObject): DnsRecord[] {
  const name = textOf(domain, 'domain')
  const records: DnsRecord[] = []
  if (typeof domain.cname_target === 'string') records.push({ name, type: 'CNAME', value: domain.cname_target })
  if (typeof domain.acme_challenge_cname_target === 'string') {
    const challenge = `_acme-challenge.${name.replace(/^\*\./, '')}`
    records.push({ name: challenge, type: 'CNAME', value: domain.acme_challenge_cname_target })
  }
  return records
}

const FIRST_PORT = 10_000
const PORTS = 20_000
const HOSTS = 9

/** Reserved TCP addresses; `addr` is assigned at create. */
export const reservedAddrs: Resource = {
  path: 'reserved_addrs',
  listKey: 'reserved_addrs',
  idPrefix: 'ra',
  eventName: 'reserved_addr',
  served: true,
  fields: {
    ...DESCRIBED,
    region: fixed(optional(oneOf(...REGIONS), 'us')),
    endpoint_configuration_id: updateOnly(optional(id, null)),
  },
  prepare: ({ before, given, next }, context) => {
    if (before === undefined) next.addr = freeAddress(textOf(next, 'region'), context)
    if (typeof given.endpoint_configuration_id === 'string') {
      context.resolve(['endpoint_configurations'], given.endpoint_configuration_id, 'endpoint_configuration_id')
    }
  },
  claims: (address) => [{ scope: 'addr', value: textOf(address, 'addr'), field: 'addr' }],
  shows: { ...SHOWN_TEXTS, addr: TEXT, region: oneOf(...REGIONS).schema, endpoint_configuration: nullable(REF) },
  render: (address, view) => ({
    description: textOf(address, 'description'),
    metadata: textOf(address, 'metadata'),
    addr: textOf(address, 'addr'),
    region: textOf(address, 'region'),
    endpoint_configuration: view.ref(address.endpoint_configuration_id),
  }),
  parts: [{ name: 'endpoint_configuration', clear: () => ({ endpoint_configuration_id: null }) }],
}

/** A free address: a random start, then the next free port. */
function freeAddress(region: string, context: WriteContext): string {
  const { random, serviceDomain } = context.services
  const start = Math.floor(random.next() * HOSTS * PORTS)
  for (let step = 0; step < HOSTS * PORTS; step += 1) {
    const number = (start + step) % (HOSTS * PORTS)
    const host = `${1 + Math.floor(number / PORTS)}.tcp.${region}.${serviceDomain}`
    const value = `${host}:${FIRST_PORT + (number % PORTS)}`
    if (context.store.claimant({ scope: 'addr', value }) === undefined) return value
  }
  throw new Error(`every address of region ${region} is reserved`)
}
