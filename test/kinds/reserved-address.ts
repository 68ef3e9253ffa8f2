import { expect } from 'vitest'
import type { ManagedKindTestData } from './kind-test-data.ts'
import { declaredRef, endpointEdits, endpointPlace, endpointSample, regionPlace } from './shared/domains.ts'
import { notEmpty, story } from './shared/edits.ts'
import { bare, seeded, shownWorded, worded } from './shared/objects.ts'
import { grantRefusals, managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { pick, textEdits, textRefusals, withTexts } from './shared/texts.ts'

const addr = expect.stringMatching(/^[\w.-]+:\d+$/)

export const reservedAddress: ManagedKindTestData = {
  kind: 'ReservedAddress',
  accepted: { region: 'eu' },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...grantRefusals,
    refuse('with a region that is none', { region: 'Europe West' }, 'region'),
    refuseChange('with another region', { region: 'us' }, 'region is immutable: delete'),
  ],
  specs: {
    minimal: { spec: () => ({}), object: () => ({ ...bare, addr, region: 'us', endpoint_configuration: null }) },
    full: {
      spec: (name) => ({ ...worded(name), region: 'eu', endpointConfigurationRef: { id: 'ec_specs1' } }),
      object: ({ name }) => ({
        ...shownWorded(name),
        addr,
        region: 'eu',
        endpoint_configuration: seeded('ec_specs1'),
      }),
    },
  },
  edits: [
    story('place', notEmpty, [...textEdits, ...endpointEdits('endpointConfigurationRef', 'endpoint_configuration')]),
  ],
  collections: {
    reserved_addrs: withTexts({
      samples: { region: pick('eu', 'jp'), endpoint_configuration_id: endpointSample },
      drifts: {
        endpoint_configuration_id: [
          () => ({ endpoint_configuration_id: 'ec_specs2' }),
          () => ({ endpoint_configuration_id: null }),
        ],
      },
      madeAnew: ['addr'],
    }),
  },
  places: { 'spec.region': regionPlace, 'spec.endpointConfigurationRef.id': endpointPlace },
  declares: ({ region = 'us', endpointConfigurationRef }, { object }) => [
    ['region', region, object.region],
    ...declaredRef('endpoint_configuration', endpointConfigurationRef, object),
  ],
  referents: [
    { collection: 'reserved_addrs', object: { id: 'ra_one' }, resource: { name: 'one', spec: {} } },
    { collection: 'reserved_addrs', object: { id: 'ra_two' } },
  ],
}
