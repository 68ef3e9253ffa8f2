import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { commonSpecRules } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { list, object, stringMap, text } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { keysLimit } from '../schema/rules.ts'
import { equalJSON } from '../util/json.ts'
import { managedColumns } from './building-blocks/columns.ts'
import { inCollection, managedKind } from './building-blocks/plain-kind.ts'
import { given, namesOf, sorted, textMapOf } from './building-blocks/remote.ts'
import { placeOf, secretOrConfigMapPlace, templateOf } from './credentials/output-place.ts'
import { cidrText, normaliseCIDR } from './ip-policy/cidr.ts'
import {
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

/** Length of a certificate that names no end (`management-api.md § SSH certificates`). */
const LENGTH = '24h'
const ANY = 'every user of every host that trusts the authority'

/** Extensions that OpenSSH knows: each is present or absent and has no value. */
const FLAGS = [
  'no-touch-required',
  'permit-X11-forwarding',
  'permit-agent-forwarding',
  'permit-port-forwarding',
  'permit-pty',
  'permit-user-rc',
]

/** Extensions of a certificate that names none, by the contract. */
const DEFAULT_EXTENSIONS = { 'permit-pty': '', 'permit-user-rc': '' }

const criticalOptions = object(
  {
    forceCommand: Type.Optional(
      text({
        description:
          'The only command that may run when the holder logs in, regardless of what the client requests. Default: none; the client chooses.',
        minLength: 1,
        maxLength: 4096,
        mustBe: 'one line without control characters except tabs: remove them',
        pattern: '^[^\\x00-\\x08\\x0a-\\x1f\\x7f]+$',
      }),
    ),
    sourceAddresses: Type.Optional(
      list(cidrText('sourceAddresses'), {
        description:
          'Address ranges that the holder may connect from, from 1 to 256. Order does not matter. Default: any.',
        minItems: 1,
        maxItems: 256,
        listType: 'set',
      }),
    ),
  },
  {
    description: 'Restrictions that SSH servers enforce. A change issues a new certificate. Default: none.',
    // Atomic, because server-side apply cannot empty a granular object: it would set it to null.
    atomic: true,
  },
)

const extensions = stringMap(
  text({ description: 'Value of the extension, usually empty. At most 1024 characters.', maxLength: 1024 }),
  {
    description:
      'Permissions of the holder as OpenSSH extensions, such as `permit-pty: ""`; `{}` for none. At most 64, with names of at most 255 characters. A change issues a new certificate. Default: permit-pty and permit-user-rc.',
    maxProperties: 64,
    atomic: true,
    rules: [
      keysLimit(255, 'extensions'),
      {
        rule: `!self.exists(name, name in [${FLAGS.map((name) => `'${name}'`).join(', ')}] && self[name] != '')`,
        message: `extensions has a value for one of ${FLAGS.join(', ')}, which take none: write ""`,
      },
    ],
  },
)

const definition = defineKind({
  ...managedKind,
  kind: 'SSHUserCertificate',
  plural: 'sshusercertificates',
  singular: 'sshusercertificate',
  shortNames: ['sshusercert'],
  scope: 'Namespaced',
  description:
    'A certificate with which the holder of a key logs in over SSH, signed by an SSHCertificateAuthority and renewed before it expires. Any change to its contents issues a new certificate. Deleting it does not revoke it: hosts accept a certificate until it expires.',
  spec: object(
    {
      ...certificateSpec(
        'The public key of the user.',
        {
          description: 'User names that the holder may log in as. Required unless anyPrincipal is true.',
          mustBe: 'user names without control characters: remove them',
          pattern: '^[^\\x00-\\x1f\\x7f]+$',
          any: ANY,
          anyNote:
            ' OpenSSH accepts such a certificate only where an authorized_keys file trusts the authority, not through TrustedUserCAKeys.',
        },
        LENGTH,
      ),
      criticalOptions: Type.Optional(criticalOptions),
      extensions: Type.Optional(extensions),
      output: secretOrConfigMapPlace({ subject: 'certificate', keys: '`id-cert.pub` is the certificate.' }),
    },
    { description: 'Desired state of the certificate.', rules: [...commonSpecRules, ...certificateRules(ANY, LENGTH)] },
  ),
  status: object(sshCertificateStatus, { description: 'Observed state of the certificate.' }),
  printerColumns: managedColumns(...certificateColumns),
  conditions: sshCertificateConditions,
  replacing: [...certificateReplacing, 'criticalOptions', 'extensions'],
})

export type SSHUserCertificateSpec = SpecOf<typeof definition>

/** SSH user certificates (`management-api.md § SSH certificates`). */
export const sshUserCertificate: ManagedDescriptor<SSHUserCertificateSpec> = {
  ...certificateParts<SSHUserCertificateSpec>({
    defaultLength: LENGTH,
    needsAuthority: () => false,
    own: {
      names: ['critical_options', 'extensions'],
      setBy: ({ criticalOptions: options, extensions: named }) =>
        namesOf({ critical_options: options, extensions: named }),
      desire: ({ spec }) => ({
        critical_options: sentOptions(spec.criticalOptions),
        extensions: spec.extensions ?? DEFAULT_EXTENSIONS,
      }),
      observe: ({ critical_options, extensions: found }) => ({
        critical_options: comparableOptions(critical_options),
        extensions: textMapOf(found),
      }),
      written: ({ critical_options, extensions: found }) => {
        const held = textMapOf(found)
        return given({
          criticalOptions: writtenOptions(textMapOf(critical_options)),
          extensions: equalJSON(held, DEFAULT_EXTENSIONS) ? undefined : held,
        })
      },
      comparable: (fields) => ({ ...fields, critical_options: comparableOptions(fields.critical_options) }),
    },
  }),
  definition,
  identity: inCollection(collections.sshUserCertificates),
  output: {
    type: 'derived',
    target: placeOf,
    template: templateOf,
    problem: certificateProblem,
    data: (_desired, remote): Readonly<Record<string, string>> => {
      const file = certificateFile(remote)
      return file === undefined ? {} : { 'id-cert.pub': file }
    },
  },
}

const SOURCE = 'source-address'

function sentOptions({ forceCommand, sourceAddresses = [] }: SSHUserCertificateSpec['criticalOptions'] = {}) {
  return given({
    'force-command': forceCommand,
    [SOURCE]: sourceAddresses.length === 0 ? undefined : sourceAddresses.join(','),
  })
}

/** Options as a spec has them; undefined if there are none. */
function writtenOptions(options: Readonly<Partial<Record<string, string>>>) {
  const addresses = options[SOURCE]?.split(',').map((address) => normaliseCIDR(address.trim()))
  const written = given({ forceCommand: options['force-command'], sourceAddresses: addresses })
  return Object.keys(written).length === 0 ? undefined : written
}

/** Source addresses are a set, and a bare address equals a range of one. */
function comparableOptions(value: unknown): Readonly<Record<string, string>> {
  const options = Object.entries(textMapOf(value))
  return Object.fromEntries(options.map(([name, text]) => [name, name === SOURCE ? comparableAddresses(text) : text]))
}

function comparableAddresses(text: string): string {
  return sorted(text.split(',').map((address) => normaliseCIDR(address.trim()))).join(',')
}
