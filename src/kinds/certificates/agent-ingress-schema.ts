import { Type } from 'typebox'
import { commonSpec, commonSpecRules, commonStatus } from '../../managed/descriptor/common.ts'
import { list, object, text } from '../../schema/define.ts'
import { defineKind, type SpecOf } from '../../schema/definition.ts'
import { fixedField } from '../../schema/rules.ts'
import { conditionColumn, managedColumns, textColumn, wideColumn } from '../building-blocks/columns.ts'
import { managedKind } from '../building-blocks/plain-kind.ts'
import { managedCertificate } from './certificate-spec.ts'
import { certificateConditions, certificateStatusFields } from './certificate-status.ts'
import { dnsEndpointCondition, dnsSpec } from './dns-endpoint.ts'
import { DOMAIN_LENGTH, HOST_PATTERN, HOST_WORDS } from './domain-name.ts'

/** The contract states no limits for the lists in a response; these limit what a status shows. */
export const NS_TARGETS_SHOWN = 32
export const REGION_DOMAINS_SHOWN = 128
export const REGION_DOMAIN_LENGTH = 512

export const agentIngressDefinition = defineKind({
  ...managedKind,
  kind: 'AgentIngress',
  plural: 'agentingresses',
  singular: 'agentingress',
  shortNames: [],
  scope: 'Namespaced',
  description:
    'A custom domain through which agents connect to the service. NS records delegate it to the service, and it has a subdomain for each region.',
  spec: object(
    {
      ...commonSpec('bytes'),
      domain: text({
        description: 'The domain in lower case, without a wildcard, at most 253 characters. Immutable.',
        minLength: 1,
        maxLength: DOMAIN_LENGTH,
        pattern: HOST_PATTERN,
        mustBe: HOST_WORDS,
      }),
      certificate: Type.Optional(managedCertificate),
      ...dnsSpec,
    },
    { description: 'Desired state of the ingress.', rules: [...commonSpecRules, fixedField('domain')] },
  ),
  status: object(
    {
      ...commonStatus,
      uri: Type.Optional(
        text({
          description: 'Address of the remote object; it may be a path relative to the base URL of the account.',
          maxLength: 2048,
        }),
      ),
      nsTargets: Type.Optional(
        list(text({ description: 'Host name of a name server.', maxLength: 512 }), {
          description: 'Values of the NS records that delegate the domain to the service.',
          maxItems: NS_TARGETS_SHOWN,
        }),
      ),
      regionDomains: Type.Optional(
        list(text({ description: 'A domain.', maxLength: REGION_DOMAIN_LENGTH }), {
          description: 'Subdomains of the domain, one per region. More may be added over time.',
          maxItems: REGION_DOMAINS_SHOWN,
        }),
      ),
      ...certificateStatusFields,
    },
    { description: 'Observed state of the ingress.' },
  ),
  printerColumns: managedColumns(
    textColumn('Domain', '.spec.domain', 'The domain.'),
    conditionColumn('Certificate', 'CertificateReady', 'Status of the condition CertificateReady.'),
    wideColumn('Name servers', '.status.nsTargets', 'Values of the NS records that delegate the domain.'),
  ),
  conditions: [...managedKind.conditions, ...certificateConditions, dnsEndpointCondition],
})

export type AgentIngressSpec = SpecOf<typeof agentIngressDefinition>
