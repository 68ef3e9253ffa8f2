import fc from 'fast-check'
import { caFacts, caPem, partnerCaFacts, partnerCaPem } from '../builders/contract/ca-pem.ts'
import { given, pemOf } from '../builders/declared/forms.ts'
import type { ManagedKindTestData } from './kind-test-data.ts'
import { fromConfigMap, fromSecret, keyOf } from './shared/account.ts'
import { another, story } from './shared/edits.ts'
import { bare, shownWorded, worded } from './shared/objects.ts'
import { grantRefusals, managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { pick, textEdits, textRefusals, withTexts } from './shared/texts.ts'

const key = { name: 'a', key: 'b' }
const own = { ca_pem: caPem, ...caFacts }
const partners = { ca_pem: partnerCaPem, ...partnerCaFacts }

export const certificateAuthority: ManagedKindTestData = {
  kind: 'CertificateAuthority',
  accepted: { caPEM: caPem },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...grantRefusals,
    refuseChange('with a PEM of many bytes', { caPEM: 'ä'.repeat(200_000) }, 'caPEM must have at most 262144 bytes'),
    refuse('without PEM', { caPEM: undefined }, 'set exactly one of caPEM, caPEMFrom'),
    refuse(
      'with a PEM from two places',
      { caPEM: undefined, caPEMFrom: { secretKeyRef: key, configMapKeyRef: key } },
      'set exactly one of secretKeyRef, configMapKeyRef',
    ),
  ],
  specs: {
    minimal: { spec: () => ({ caPEM: caPem }), object: () => ({ ...bare, ...own }) },
    full: {
      spec: (name) => ({ ...worded(name), caPEM: partnerCaPem }),
      object: ({ name }) => ({ ...shownWorded(name), ...partners }),
    },
    'from a Secret': { spec: () => ({ caPEMFrom: fromSecret('caPEM') }), object: () => ({ ...bare, ...own }) },
    'from a ConfigMap': {
      spec: () => ({ caPEMFrom: fromConfigMap('caPEM') }),
      object: () => ({ ...bare, ...partners }),
    },
  },
  edits: [
    story('ca', { caPEM: caPem }, [
      ...textEdits,
      another({ caPEM: partnerCaPem }, partners),
      another({ caPEM: undefined, caPEMFrom: fromSecret('caPEM') }, own),
      another({ caPEMFrom: fromSecret('otherCAPEM') }, partners),
      another({ caPEMFrom: fromConfigMap('otherCAPEM') }, own),
      another({ caPEMFrom: fromConfigMap('caPEM') }, partners),
      another({ caPEM: caPem, caPEMFrom: undefined }, own),
    ]),
  ],
  collections: {
    certificate_authorities: withTexts({
      samples: { ca_pem: pick(caPem, partnerCaPem) },
      stranger: () => ({ ca_pem: caPem }),
    }),
  },
  places: {
    'spec.caPEM': fc.constantFrom(caPem, partnerCaPem, `text around it\n${caPem}\n`),
    'spec.caPEMFrom.secretKeyRef': keyOf('ca.crt', 'partner.crt'),
    'spec.caPEMFrom.configMapKeyRef': keyOf('ca.crt', 'partner.crt'),
  },
  declares: (spec, { object }, resolved) => [['ca_pem', pemOf(given(spec, 'caPEM', resolved)), pemOf(object.ca_pem)]],
  referents: [
    ...(
      [
        ['first', caPem],
        ['second', partnerCaPem],
      ] as const
    ).map(([name, caPEM]) => ({
      collection: 'certificate_authorities',
      object: { id: `ca_${name}`, ca_pem: caPEM },
      resource: { name, spec: { caPEM } },
    })),
    { collection: 'certificate_authorities', object: { id: 'ca_third', ca_pem: caPem } },
  ],
}
