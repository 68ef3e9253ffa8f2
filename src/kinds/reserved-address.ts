import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { commonSpec, commonSpecRules, commonStatus } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { sharing } from '../managed/descriptor/grant.ts'
import { object, text } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { fixedField } from '../schema/rules.ts'
import { managedColumns, textColumn } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, noReferences, plain, plainFields } from './building-blocks/plain-kind.ts'
import { given, namesOf, refId, textOf, wholeText } from './building-blocks/remote.ts'
import {
  endpointConfigurationRef,
  foreignIdsOf,
  region,
  wantedConfiguration,
  writtenConfiguration,
} from './building-blocks/spec-fields.ts'

/** Region of an address that names none, by the contract. */
const REGION = 'us'
/** Maximum length of an address in a status, in characters. */
const ADDR_LENGTH = 512
/** The part that can also be set outside Culvert. */
const CONFIGURATION = 'endpointConfiguration'

const definition = defineKind({
  ...managedKind,
  kind: 'ReservedAddress',
  plural: 'reservedaddresses',
  singular: 'reservedaddress',
  shortNames: ['raddr'],
  scope: 'Namespaced',
  description:
    'A TCP address (host and port) reserved for the account, on which TCP Edges can listen. The service chooses it: see `status.addr`.',
  spec: object(
    {
      ...commonSpec('bytes'),
      ...sharing,
      region: Type.Optional(region(`Region of the address. Immutable. Default: ${REGION}.`)),
      endpointConfigurationRef: Type.Optional(endpointConfigurationRef('traffic to the address')),
    },
    {
      description: 'Desired state of the address.',
      rules: [...commonSpecRules, fixedField('region', { absent: REGION })],
    },
  ),
  status: object(
    {
      ...commonStatus,
      addr: Type.Optional(text({ description: 'The address, as host:port.', maxLength: ADDR_LENGTH })),
    },
    { description: 'Observed state of the address.' },
  ),
  addressPath: '.status.addr',
  printerColumns: managedColumns(textColumn('Address', '.status.addr', 'The address, as host:port.')),
})

export type ReservedAddressSpec = SpecOf<typeof definition>

/** Reserved TCP addresses (`management-api.md § Domains, addresses, ingress`). */
export const reservedAddress: ManagedDescriptor<ReservedAddressSpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  definition,
  identity: {
    ...inCollection(collections.reservedAddrs),
    valuesOf: ({ addr }) => [textOf(addr)?.toLowerCase()].filter((value) => value !== undefined),
  },
  references: {
    ...noReferences,
    foreignIds: ({ endpointConfigurationRef: ref }) => foreignIdsOf({ endpointConfigurationRef: ref }),
  },
  fields: {
    ...plainFields,
    createOnly: ['region'],
    updateOnly: ['endpoint_configuration_id'],
    setBy: ({ region: place, endpointConfigurationRef: ref }) =>
      namesOf({ region: place, endpoint_configuration_id: ref }),
    desire: (desired) => ({
      region: desired.spec.region ?? REGION,
      endpoint_configuration_id: wantedConfiguration(desired, CONFIGURATION, desired.spec.endpointConfigurationRef),
    }),
    observe: (remote) => ({
      region: textOf(remote.region) ?? REGION,
      endpoint_configuration_id: refId(remote.endpoint_configuration) ?? null,
    }),
  },
  status: {
    shown: ({ addr }) => given({ addr: wholeText(addr, ADDR_LENGTH) }),
    readiness: () => available('the address is reserved'),
  },
  manifest: {
    namedAfter: ({ description, addr }) => [textOf(description), textOf(addr)],
    specOf: ({ region: place, endpoint_configuration }) =>
      given({
        region: textOf(place) === REGION ? undefined : textOf(place),
        endpointConfigurationRef: writtenConfiguration(endpoint_configuration),
      }),
  },
  modules: {
    named: ({ endpointConfigurationRef: ref }) => namesOf({ [CONFIGURATION]: ref }),
    held: (remote) => namesOf({ [CONFIGURATION]: refId(remote.endpoint_configuration) }),
  },
}
