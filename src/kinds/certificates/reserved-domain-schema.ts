import { Type } from 'typebox'
import { commonSpec, commonSpecRules, commonStatus } from '../../managed/descriptor/common.ts'
import { sharing } from '../../managed/descriptor/grant.ts'
import { object, text } from '../../schema/define.ts'
import { defineKind, type SpecOf } from '../../schema/definition.ts'
import { fixedField } from '../../schema/rules.ts'
import { conditionColumn, managedColumns, textColumn, wideColumn } from '../building-blocks/columns.ts'
import { managedKind } from '../building-blocks/plain-kind.ts'
import { ID_LENGTH, URI_LENGTH } from '../building-blocks/remote.ts'
import { endpointConfigurationRef, region } from '../building-blocks/spec-fields.ts'
import { managedOrUploadedCertificate } from './certificate-spec.ts'
import { certificateConditions, certificateStatusFields } from './certificate-status.ts'
import { dnsEndpointCondition, dnsSpec } from './dns-endpoint.ts'
import { DOMAIN_LENGTH, DOMAIN_PATTERN, DOMAIN_WORDS } from './domain-name.ts'

export const reservedDomainDefinition = defineKind({
  ...managedKind,
  kind: 'ReservedDomain',
  plural: 'reserveddomains',
  singular: 'reserveddomain',
  shortNames: ['rdom'],
  scope: 'Namespaced',
  description:
    'A domain reserved for the account, with its certificate, on which Edges can listen: a subdomain of a domain of the service, or a custom domain, which needs DNS records (`status.dnsRecords`).',
  spec: object(
    {
      ...commonSpec('bytes'),
      ...sharing,
      domain: text({
        description: 'The domain in lower case; a leading `*.` matches exactly one label. Immutable.',
        minLength: 1,
        maxLength: DOMAIN_LENGTH,
        pattern: DOMAIN_PATTERN,
        mustBe: DOMAIN_WORDS,
      }),
      region: Type.Optional(
        region(
          'Region of the domain. Deprecated in the API, which serves domains in all regions. Immutable. Default: none.',
        ),
      ),
      certificate: Type.Optional(managedOrUploadedCertificate),
      ...dnsSpec,
      httpEndpointConfigurationRef: Type.Optional(endpointConfigurationRef('HTTP traffic to the domain')),
      httpsEndpointConfigurationRef: Type.Optional(endpointConfigurationRef('HTTPS traffic to the domain')),
    },
    {
      description: 'Desired state of the domain.',
      rules: [...commonSpecRules, fixedField('domain'), fixedField('region')],
    },
  ),
  status: object(
    {
      ...commonStatus,
      cnameTarget: Type.Optional(
        text({
          description:
            'Target of the CNAME record that a custom domain needs; absent for a subdomain of a domain of the service.',
          maxLength: 512,
        }),
      ),
      acmeChallengeCNAMETarget: Type.Optional(
        text({
          description:
            'Target of the CNAME record `_acme-challenge` that a custom wildcard domain needs for its certificate; absent otherwise.',
          maxLength: 512,
        }),
      ),
      certificateID: Type.Optional(text({ description: 'Id of the certificate in use.', maxLength: ID_LENGTH })),
      certificateURI: Type.Optional(
        text({ description: 'API address of the certificate in use.', maxLength: URI_LENGTH }),
      ),
      ...certificateStatusFields,
    },
    { description: 'Observed state of the domain.' },
  ),
  printerColumns: managedColumns(
    textColumn('Domain', '.spec.domain', 'The domain.'),
    conditionColumn('Certificate', 'CertificateReady', 'Status of the condition CertificateReady.'),
    wideColumn('CNAME', '.status.cnameTarget', 'Target of the CNAME record that a custom domain needs.'),
  ),
  conditions: [...managedKind.conditions, ...certificateConditions, dnsEndpointCondition],
})

export type ReservedDomainSpec = SpecOf<typeof reservedDomainDefinition>
