import { collections } from '../api/collections.ts'
import { commonSpecRules } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { object } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { managedColumns } from './building-blocks/columns.ts'
import { inCollection, managedKind } from './building-blocks/plain-kind.ts'
import { given, sorted, textsOf } from './building-blocks/remote.ts'
import { placeOf, secretOrConfigMapPlace, templateOf } from './credentials/output-place.ts'
import {
  authorityKey,
  authorityProblem,
  certificateColumns,
  certificateFile,
  certificateParts,
  certificateProblem,
  certificateReplacing,
  certificateRules,
  certificateSpec,
  sshCertificateConditions,
  sshCertificateStatus,
} from './ssh/certificate.ts'
import { knownHostsLine } from './ssh/key-lines.ts'

/** Length of a certificate that names no end (`management-api.md § SSH certificates`). */
const LENGTH = '8760h'
const ANY = 'every host'

const definition = defineKind({
  ...managedKind,
  kind: 'SSHHostCertificate',
  plural: 'sshhostcertificates',
  singular: 'sshhostcertificate',
  shortNames: ['sshhostcert'],
  scope: 'Namespaced',
  description:
    'A certificate that identifies a host to SSH clients, signed by an SSHCertificateAuthority and renewed before it expires. Any change to its contents issues a new certificate. Deleting it does not revoke it: clients accept a certificate until it expires.',
  spec: object(
    {
      ...certificateSpec(
        'The public key of the host.',
        {
          description:
            'Host names and IP addresses that the certificate is valid for, each exactly as clients write it, in lower case. Required unless anyPrincipal is true.',
          mustBe:
            'host names or IP addresses: write other letters in their ASCII form, such as xn--bcher-kva.example for bücher.example',
          pattern: '^[A-Za-z0-9._:*?%-]+$',
          rules: [
            {
              rule: "!self.contains('*') && !self.contains('?') && self.lowerAscii() == self",
              message:
                'principals has a pattern or an upper-case letter, which clients never match: list each name in lower case',
            },
          ],
          any: ANY,
        },
        `${LENGTH} (a year)`,
      ),
      output: secretOrConfigMapPlace({
        subject: 'certificate',
        keys: '`ssh_host_key-cert.pub` is the certificate, for HostCertificate of sshd. `known_hosts` is a line with which clients trust the authority for these principals.',
      }),
    },
    { description: 'Desired state of the certificate.', rules: [...commonSpecRules, ...certificateRules(ANY, LENGTH)] },
  ),
  status: object(sshCertificateStatus, { description: 'Observed state of the certificate.' }),
  printerColumns: managedColumns(...certificateColumns),
  conditions: sshCertificateConditions,
  replacing: certificateReplacing,
})

export type SSHHostCertificateSpec = SpecOf<typeof definition>

/** SSH host certificates (`management-api.md § SSH certificates`). */
export const sshHostCertificate: ManagedDescriptor<SSHHostCertificateSpec> = {
  ...certificateParts<SSHHostCertificateSpec>({
    defaultLength: LENGTH,
    needsAuthority: (spec) => placeOf(spec) !== undefined,
    own: {
      names: [],
      setBy: () => [],
      desire: () => ({}),
      // Names of hosts, which the schema has in lower case.
      observe: ({ principals }) => ({ principals: sorted(textsOf(principals).map((name) => name.toLowerCase())) }),
      comparable: (fields) => fields,
    },
  }),
  needs: ({ principals = [] }) => ({
    domains: (principals.length === 0 ? ['*'] : principals).map((domain) => ({ path: 'spec.principals', domain })),
  }),
  definition,
  identity: inCollection(collections.sshHostCertificates),
  output: {
    type: 'derived',
    target: placeOf,
    template: templateOf,
    problem: certificateProblem,
    sourceProblem: authorityProblem,
    data: (desired, remote) => {
      const key = authorityKey(desired)
      const { principals = [] } = desired.spec
      return given({
        'ssh_host_key-cert.pub': certificateFile(remote),
        known_hosts: key === undefined ? undefined : knownHostsLine(principals, key),
      }) as Readonly<Record<string, string>>
    },
  },
}
