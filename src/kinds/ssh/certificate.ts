import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import {
  type CommonSpec,
  commonSpec,
  commonStatus,
  type Fields,
  outputStatus,
  type Ref,
  reference,
  type ValueFrom,
} from '../../managed/descriptor/common.ts'
import type { ManagedDescriptor, ManifestView } from '../../managed/descriptor/descriptor.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import type { FoundReference } from '../../managed/descriptor/references.ts'
import { bool, list, text } from '../../schema/define.ts'
import type { Rule } from '../../schema/rules.ts'
import { textColumn, wideColumn } from '../building-blocks/columns.ts'
import { plain, plainFields } from '../building-blocks/plain-kind.ts'
import { given, namesOf, sorted, textOf, textsOf, wholeText } from '../building-blocks/remote.ts'
import { outputProblems, type WithOutput } from '../credentials/output-place.ts'
import { answeredCertificate, answeredKey, CERTIFICATE_LENGTH, comparablePublicKey } from './key-lines.ts'
import {
  publicKeyFields,
  publicKeyInputProblems,
  publicKeyInputs,
  publicKeyOf,
  publicKeyProblems,
  publicKeyReplacing,
  publicKeyRule,
} from './public-key.ts'
import {
  certificateRenewal,
  isExpired,
  observedValidity,
  validityFields,
  validityOf,
  validityReadiness,
  validityReplacing,
  validityRules,
  validityStatus,
  wantedValidity,
} from './validity.ts'

const AUTHORITY = 'SSHCertificateAuthority'

/** As many as OpenSSH reads in one certificate. */
const PRINCIPALS = 256

interface PrincipalText {
  /** Finishes "one of the …": `user names`. */
  readonly description: string
  readonly pattern: string
  /** What matches it, in words that follow "must be". */
  readonly mustBe: string
  readonly rules?: readonly Rule[]
  /** What a certificate without principals is valid for. */
  readonly any: string
  /** Further note on such a certificate. */
  readonly anyNote?: string
}

/** Spec fields that user and host certificates share. */
export function certificateSpec(keyText: string, principals: PrincipalText, defaultLength: string) {
  return {
    ...commonSpec('bytes'),
    sshCertificateAuthorityRef: reference(
      AUTHORITY,
      'The SSHCertificateAuthority that signs the certificate. A change issues a new certificate.',
    ),
    ...publicKeyFields(keyText, 'A change issues a new certificate.'),
    principals: Type.Optional(
      list(
        text({
          description: 'A principal.',
          minLength: 1,
          maxLength: 255,
          pattern: principals.pattern,
          mustBe: principals.mustBe,
          rules: principals.rules ?? [],
        }),
        {
          description: `${principals.description} Order does not matter. A change issues a new certificate.`,
          maxItems: PRINCIPALS,
          listType: 'set',
        },
      ),
    ),
    anyPrincipal: Type.Optional(
      bool({
        description: `Allows a certificate without principals, which is valid for ${principals.any}.${principals.anyNote ?? ''} Default: false.`,
      }),
    ),
    ...validityFields(defaultLength),
  }
}

/** Rules over the whole spec; `any` as in `certificateSpec`, `defaultLength` as a duration. */
export function certificateRules(any: string, defaultLength: string): readonly Rule[] {
  const none = '!has(self.principals) || size(self.principals) == 0'
  const anyPrincipal = 'has(self.anyPrincipal) && self.anyPrincipal'
  return [
    publicKeyRule,
    ...validityRules(defaultLength),
    {
      rule: `!(${none}) || (${anyPrincipal})`,
      message: `principals is empty, which makes the certificate valid for ${any}: list them, or set anyPrincipal: true`,
      fieldPath: '.principals',
    },
    {
      rule: `${none} || !(${anyPrincipal})`,
      message: 'anyPrincipal: true cannot be set together with principals: remove one of them',
      fieldPath: '.anyPrincipal',
    },
  ]
}

export const certificateReplacing = [
  'sshCertificateAuthorityRef',
  ...publicKeyReplacing,
  'principals',
  ...validityReplacing,
] as const

export const sshCertificateStatus = {
  ...commonStatus,
  ...outputStatus,
  keyType: Type.Optional(text({ description: 'Type of the certified key.', maxLength: 64 })),
  ...validityStatus,
  certificate: Type.Optional(
    text({
      description: 'The certificate in authorized-keys format. It is not a secret.',
      maxLength: CERTIFICATE_LENGTH,
    }),
  ),
}

export const certificateColumns = [
  textColumn('Expires', '.status.validUntil', 'When the certificate expires.'),
  wideColumn('Renews', '.status.renewsAt', 'When the next certificate will be issued.'),
  wideColumn('Key', '.status.keyType', 'Type of the certified key.'),
] as const

/** The condition that both kinds show, for their pages. */
export const sshCertificateConditions = [
  {
    type: 'Renewed',
    description:
      'True when a new certificate will be issued before this one expires, at `status.renewsAt`. False with RenewalFailing when that fails; the current certificate remains valid until it expires. Absent if validAfter or validUntil is set, since such a certificate is not renewed.',
  },
] as const

/** Fields that the specs of both kinds of certificate have. */
export interface CertificateSpec extends CommonSpec, WithOutput {
  readonly sshCertificateAuthorityRef: Ref
  readonly publicKey?: string
  readonly publicKeyFrom?: ValueFrom
  readonly principals?: readonly string[]
  readonly anyPrincipal?: boolean
  readonly validAfter?: string
  readonly validUntil?: string
  readonly validFor?: string
  readonly renewBefore?: string
}

const SIGNED = ['ssh_certificate_authority_id', 'public_key', 'principals', 'valid_after', 'valid_until']

/** The signed fields of a certificate, in the four forms that a descriptor needs. */
interface SignedFields<Spec> {
  readonly names: readonly string[]
  setBy(spec: Spec): readonly string[]
  desire(desired: Desired<Spec>): Fields
  observe(remote: RemoteObject): Fields
  comparable(fields: Fields): Fields
  /** These fields of an object as a spec has them. Absent: there are none. */
  written?(remote: RemoteObject): Fields
}

interface CertificateKind<Spec> {
  /** The contract's default for `valid_until`, as a duration. */
  readonly defaultLength: string
  /** Whether the authority's object is needed in addition to its id. */
  needsAuthority(spec: Spec): boolean
  /** Fields that the other kind does not have. */
  readonly own: SignedFields<Spec>
}

/**
 * The parts of a descriptor that user and host certificates share. Everything but the texts is fixed when a certificate
 * is signed, so a change creates a new one before the old one is deleted; nothing refers to certificates.
 */
export function certificateParts<Spec extends CertificateSpec>({
  defaultLength,
  needsAuthority,
  own,
}: CertificateKind<Spec>) {
  const fields = [...SIGNED, ...own.names]
  const common = (values: Fields): Fields => ({
    ...values,
    public_key: comparablePublicKey(values.public_key),
    principals: sorted(textsOf(values.principals)),
  })
  return {
    ...plain,
    role: 'managed',
    reach: 'namespace',
    references: {
      kinds: [
        {
          kind: AUTHORITY,
          idsIn: (remote: RemoteObject) => [authorityIn(remote)].filter((id) => id !== undefined),
          isOver: isExpired,
        },
      ],
      of: (spec: Spec): readonly FoundReference[] => [
        {
          path: 'spec.sshCertificateAuthorityRef',
          kind: AUTHORITY,
          ref: spec.sshCertificateAuthorityRef,
          needsObject: needsAuthority(spec),
        },
      ],
    },
    inputs: { of: publicKeyInputs, problems: publicKeyInputProblems },
    problems: (spec: Spec) => [...publicKeyProblems(spec), ...outputProblems(spec)],
    fields: {
      ...plainFields,
      createOnly: fields,
      setBy: (spec: Spec): readonly string[] => [
        ...namesOf({
          ssh_certificate_authority_id: true,
          public_key: true,
          principals: spec.principals ?? spec.anyPrincipal,
          valid_after: spec.validAfter,
          valid_until: spec.validUntil ?? spec.validFor,
        }),
        ...own.setBy(spec),
      ],
      desire: (desired: Desired<Spec>, remote: RemoteObject | undefined): Fields => ({
        ssh_certificate_authority_id: desired.id(AUTHORITY, desired.spec.sshCertificateAuthorityRef),
        public_key: publicKeyOf(desired),
        principals: desired.spec.principals ?? [],
        ...wantedValidity(desired.spec, { now: desired.now, remote, defaultLength }),
        ...own.desire(desired),
      }),
      observe: (remote: RemoteObject): Fields => ({
        ssh_certificate_authority_id: authorityIn(remote),
        public_key: comparablePublicKey(remote.public_key),
        principals: sorted(textsOf(remote.principals)),
        ...observedValidity(remote),
        ...own.observe(remote),
      }),
      comparable: (values: Fields): Fields => own.comparable(common(values)),
    },
    status: {
      shown: (remote: RemoteObject): Fields =>
        given({
          keyType: wholeText(remote.key_type, 64),
          ...validityOf(remote),
          certificate: wholeText(remote.certificate, CERTIFICATE_LENGTH),
        }),
      readiness: validityReadiness,
      certificate: {
        renewsAt: ({ renewsAt }: Fields) => textOf(renewsAt),
        expiresAt: ({ validUntil }: Fields) => textOf(validUntil),
      },
    },
    manifest: {
      namedAfter: ({ description, principals }: RemoteObject) => [textOf(description), ...textsOf(principals)],
      specOf: (remote: RemoteObject, { ref }: ManifestView): Fields => {
        const principals = textsOf(remote.principals)
        return given({
          sshCertificateAuthorityRef: ref(AUTHORITY, authorityIn(remote) ?? ''),
          publicKey: textOf(remote.public_key),
          ...(principals.length === 0 ? { anyPrincipal: true } : { principals }),
          // Without an end, a new certificate would be issued as soon as this one has spent most of its time.
          validUntil: observedValidity(remote).valid_until,
          ...own.written?.(remote),
        })
      },
    },
    replacement: { fields, first: 'create' },
    rotation: certificateRenewal,
  } as const satisfies Partial<ManagedDescriptor<Spec>>
}

/** The public key of the authority that a spec refers to. */
export function authorityKey({ spec, target }: Desired<CertificateSpec>): string | undefined {
  return answeredKey(target(AUTHORITY, spec.sshCertificateAuthorityRef).object?.public_key)
}

/** Problem with the public key of that authority. */
export function authorityProblem(desired: Desired<CertificateSpec>): string | undefined {
  if (authorityKey(desired) !== undefined) return undefined
  return 'spec.sshCertificateAuthorityRef: the API returned the authority with a public_key that is not one line in authorized-keys format'
}

/** The certificate as the content of a file. */
export function certificateFile(remote: RemoteObject): string | undefined {
  const certificate = answeredCertificate(remote.certificate)
  return certificate === undefined ? undefined : `${certificate}\n`
}

/** Problem with a certificate that the API returned. */
export function certificateProblem(remote: RemoteObject): string | undefined {
  if (answeredCertificate(remote.certificate) !== undefined) return undefined
  return 'a certificate that is not one line in the format of OpenSSH'
}

function authorityIn(remote: RemoteObject): string | undefined {
  return textOf(remote.ssh_certificate_authority_id)
}
