import type { Body, ManagedKindTestData, Surrounding } from './kind-test-data.ts'
import {
  certificatePolicyEdits,
  certificatePolicySample,
  declaredCertificatePolicy,
  domainPlace,
  ecdsaPolicy,
  issued,
  managedECDSA,
  recordEdits,
  rsaPolicy,
  unmanagedPolicy,
} from './shared/domains.ts'
import { story } from './shared/edits.ts'
import { bare, need, shownWorded, worded } from './shared/objects.ts'
import { managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { same, textEdits, textRefusals, withTexts } from './shared/texts.ts'

const shown = ({ name }: Surrounding): Body => ({
  domain: `${name}.tunnel.example`,
  ns_targets: [],
  region_domains: ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'].map((region) => `${region}.${name}.tunnel.example`),
})

export const agentIngress: ManagedKindTestData = {
  kind: 'AgentIngress',
  accepted: { domain: 'agents.example.com', certificate: { type: 'Managed' } },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    refuse(
      'with an uploaded certificate, which it does not take',
      { certificate: { type: 'Uploaded' } },
      'Unsupported value: "Uploaded": supported values: "Managed"',
    ),
    refuseChange('with another domain', { domain: 'b.example.com' }, 'domain is immutable: delete'),
  ],
  specs: {
    minimal: {
      spec: (name) => need.domain(name).spec,
      object: (around) => ({ ...bare, ...shown(around), ...unmanagedPolicy }),
    },
    full: {
      spec: (name) => ({ ...worded(name), domain: `${name}.tunnel.example`, certificate: managedECDSA }),
      object: (around) => ({
        ...shownWorded(around.name),
        ...shown(around),
        certificate_management_policy: ecdsaPolicy,
        certificate_management_status: issued,
      }),
    },
  },
  edits: [
    story('ingress', { domain: 'edit-ingress.tunnel.example' }, [
      ...textEdits,
      ...certificatePolicyEdits({}),
      ...recordEdits,
    ]),
  ],
  collections: {
    agent_ingresses: withTexts({
      samples: {
        domain: (world) => same(world.customDomain()),
        certificate_management_policy: certificatePolicySample,
      },
      drifts: {
        certificate_management_policy: [
          () => ({ certificate_management_policy: rsaPolicy }),
          () => ({ certificate_management_policy: null }),
        ],
      },
      madeAnew: ['ns_targets'],
      stranger: (number) => ({ domain: `stranger-${number}.example.net` }),
    }),
  },
  places: { 'spec.domain': domainPlace },
  declares: (spec, { object }) => [['domain', spec.domain, object.domain], declaredCertificatePolicy(spec, object)],
}
