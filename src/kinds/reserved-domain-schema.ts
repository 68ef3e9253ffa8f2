import { Type } from 'typebox'
import { commonSpec, commonSpecRules, commonStatus } from '../managed/types/common.ts'
import { choice, list, object, text, timestamp } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { atMostOne, fixedField } from '../schema/rules.ts'
import { conditionColumn, managedColumns, textColumn, wideColumn } from './columns.ts'
import { DOMAIN_LENGTH, DOMAIN_PATTERN } from './domain-name.ts'
import { common } from './names.ts'
import { REGIONS } from './region.ts'

const id = (description: string) => text({ description, minLength: 1, maxLength: 255 })

const certificateManagementPolicy = object(
  {
    authority: Type.Optional(
      choice(['LetsEncrypt'], { description: 'Who issues. Default: LetsEncrypt.', default: 'LetsEncrypt' }),
    ),
    privateKeyType: Type.Optional(
      choice(['RSA', 'ECDSA'], { description: 'Type of the private key. Default: RSA.', default: 'RSA' }),
    ),
  },
  { description: 'Lets the service issue and renew a certificate. Not together with certificateID.' },
)

const provisioningJob = object(
  {
    errorCode: Type.Optional(
      text({ description: 'DNS_ERROR: correct the DNS. INTERNAL_ERROR: passes by itself.', maxLength: 255 }),
    ),
    message: Type.Optional(text({ description: 'What the service says about it.', maxLength: 1024 })),
    startedAt: Type.Optional(timestamp({ description: 'When the job began.' })),
    retriesAt: Type.Optional(timestamp({ description: 'When it is tried again.' })),
  },
  { description: 'A certificate being provisioned or renewed; absent while none is.' },
)

const dnsRecord = object(
  {
    name: text({ description: 'Name of the record.', maxLength: 512 }),
    type: choice(['CNAME'], { description: 'Type of the record.' }),
    value: text({ description: 'What it must point to.', maxLength: 512 }),
  },
  { description: 'A DNS record.' },
)

export const reservedDomainDefinition = defineKind({
  ...common,
  kind: 'ReservedDomain',
  plural: 'reserveddomains',
  singular: 'reserveddomain',
  shortNames: ['rd'],
  scope: 'Namespaced',
  description:
    'A domain, of the service or your own, that the service keeps for the account, with its certificate. An Edge listens on it.',
  spec: object(
    {
      ...commonSpec('bytes'),
      domain: text({
        description: 'The domain in lower case; a leading `*.` stands for every name one label below. Fixed at create.',
        minLength: 1,
        maxLength: DOMAIN_LENGTH,
        pattern: DOMAIN_PATTERN,
      }),
      region: Type.Optional(
        choice(REGIONS, {
          description: 'Deprecated by the API, which serves domains everywhere. Fixed at create. Default: none.',
        }),
      ),
      certificateID: Type.Optional(
        id('Id of an uploaded certificate. Not together with certificateManagementPolicy. Default: none.'),
      ),
      certificateManagementPolicy: Type.Optional(certificateManagementPolicy),
      httpEndpointConfigurationID: Type.Optional(id('Id of an endpoint configuration for HTTP. Default: none.')),
      httpsEndpointConfigurationID: Type.Optional(id('Id of an endpoint configuration for HTTPS. Default: none.')),
    },
    {
      description: 'What the domain should be.',
      rules: [
        ...commonSpecRules,
        fixedField('domain'),
        fixedField('region'),
        atMostOne(['certificateID', 'certificateManagementPolicy']),
      ],
    },
  ),
  status: object(
    {
      ...commonStatus,
      cnameTarget: Type.Optional(
        text({ description: 'What a CNAME of your own domain must point to.', maxLength: 512 }),
      ),
      acmeChallengeCNAMETarget: Type.Optional(
        text({
          description: 'What a CNAME of `_acme-challenge.` must point to, for your own wildcard.',
          maxLength: 512,
        }),
      ),
      dnsRecords: Type.Optional(
        list(dnsRecord, { description: 'The records to make at your DNS provider.', maxItems: 8 }),
      ),
      certificateID: Type.Optional(text({ description: 'Id of the certificate in use.', maxLength: 255 })),
      certificateURI: Type.Optional(text({ description: 'Address of the certificate in use.', maxLength: 2048 })),
      renewsAt: Type.Optional(timestamp({ description: 'When a new certificate will be requested.' })),
      provisioningJob: Type.Optional(provisioningJob),
    },
    { description: 'The domain at the API.' },
  ),
  printerColumns: managedColumns(
    textColumn('Domain', '.spec.domain', 'The domain.'),
    conditionColumn('Certificate', 'CertificateReady', 'Whether a certificate is in place and can be renewed.'),
    wideColumn('CNAME', '.status.cnameTarget', 'What a CNAME of your own domain must point to.'),
  ),
  conditions: [
    {
      type: 'CertificateReady',
      description:
        'A certificate is in use and nothing keeps it from being renewed. False with RenewalFailing long before the one in use expires. Unknown while none is managed.',
    },
    {
      type: 'DNSReady',
      description:
        'The DNS records of your own domain are in place; absent for domains of the service, which need none.',
    },
  ],
})

export type ReservedDomainSpec = SpecOf<typeof reservedDomainDefinition>
