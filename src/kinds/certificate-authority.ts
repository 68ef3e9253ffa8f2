import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { commonSpec, commonSpecRules, commonStatus, valueFrom } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import type { Desired } from '../managed/descriptor/desired.ts'
import { sharing } from '../managed/descriptor/grant.ts'
import { pollIn, type ReadinessView } from '../managed/descriptor/readiness.ts'
import { reasons } from '../managed/descriptor/reasons.ts'
import { bytesText, list, object, text, timestamp } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { cut } from '../util/printable.ts'
import { managedColumns, textColumn, wideColumn } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, plain, plainFields } from './building-blocks/plain-kind.ts'
import { given, textOf, textsOf, timeOf } from './building-blocks/remote.ts'
import { givenText, inlineOrFrom, inputsFrom } from './building-blocks/spec-fields.ts'

/** Enough for a bundle of a few dozen authorities, in bytes; the contract states no limit. */
const PEM_LENGTH = 262_144
const USAGES = 32

function usages(description: string) {
  return Type.Optional(list(text({ description: 'A usage.', maxLength: 128 }), { description, maxItems: USAGES }))
}

const definition = defineKind({
  ...managedKind,
  kind: 'CertificateAuthority',
  plural: 'certificateauthorities',
  singular: 'certificateauthority',
  pluralSharedWith: "Crossplane's AWS provider",
  shortNames: [],
  scope: 'Namespaced',
  description:
    'A certificate authority (CA) uploaded to the service. An Edge that names it in `mutualTLS` admits clients whose certificate it issued. Changing the PEM uploads a new object, and Edges are moved to it before the old one is deleted.',
  spec: object(
    {
      ...commonSpec('bytes'),
      ...sharing,
      caPEM: Type.Optional(
        bytesText('caPEM', PEM_LENGTH, {
          description: `One or more CA certificates in PEM; at most ${PEM_LENGTH} bytes. A change replaces the object. Exactly one of caPEM and caPEMFrom is required.`,
          minLength: 1,
        }),
      ),
      caPEMFrom: Type.Optional(
        valueFrom('Where to read the PEM from instead, such as the `ca.crt` of cert-manager or of a trust bundle.'),
      ),
    },
    { description: 'Desired state of the authority.', rules: [...commonSpecRules, inlineOrFrom('caPEM')] },
  ),
  status: object(
    {
      ...commonStatus,
      subjectCommonName: Type.Optional(text({ description: 'Common name of the first certificate.', maxLength: 1024 })),
      notBefore: Type.Optional(timestamp({ description: 'Start of its validity.' })),
      notAfter: Type.Optional(timestamp({ description: 'End of its validity.' })),
      keyUsages: usages('Key usages of the first certificate.'),
      extendedKeyUsages: usages('Extended key usages of the first certificate.'),
    },
    { description: 'Observed state of the authority.' },
  ),
  printerColumns: managedColumns(
    textColumn('Subject', '.status.subjectCommonName', 'Common name of the first certificate.'),
    wideColumn('Expires', '.status.notAfter', 'End of its validity.'),
  ),
})

export type CertificateAuthoritySpec = SpecOf<typeof definition>

/** Uploaded certificate authorities (`management-api.md § SSH certificates`). The PEM is fixed at create. */
export const certificateAuthority: ManagedDescriptor<CertificateAuthoritySpec> = {
  ...plain,
  role: 'managed',
  reach: 'namespace',
  definition,
  identity: inCollection(collections.certificateAuthorities),
  inputs: {
    of: ({ caPEMFrom }) => inputsFrom('caPEM', caPEMFrom).map((input) => ({ ...input, multiline: true })),
    problems: (desired) => {
      const { caPEMFrom } = desired.spec
      return caPEMFrom === undefined ? [] : pemProblems('spec.caPEMFrom', pemOf(desired))
    },
  },
  problems: ({ caPEM }) => (caPEM === undefined ? [] : pemProblems('spec.caPEM', caPEM)),
  fields: {
    ...plainFields,
    createOnly: ['ca_pem'],
    setBy: () => ['ca_pem'],
    desire: (desired) => ({ ca_pem: pemOf(desired) }),
    observe: ({ ca_pem }) => ({ ca_pem: comparablePEM(textOf(ca_pem) ?? '') }),
    comparable: (fields) => ({ ...fields, ca_pem: comparablePEM(textOf(fields.ca_pem) ?? '') }),
  },
  status: {
    shown: (remote) => {
      const name = textOf(remote.subject_common_name)
      return given({
        subjectCommonName: name === undefined ? undefined : cut(name, 1024),
        notBefore: timeOf(remote.not_before),
        notAfter: timeOf(remote.not_after),
        keyUsages: namesOf(remote.key_usages),
        extendedKeyUsages: namesOf(remote.extended_key_usages),
      })
    },
    readiness,
  },
  manifest: {
    namedAfter: ({ description, subject_common_name }) => [textOf(description), textOf(subject_common_name)],
    specOf: ({ ca_pem }) => given({ caPEM: textOf(ca_pem) }),
  },
  replacement: { fields: ['ca_pem'], first: 'create' },
}

function pemOf(desired: Desired<CertificateAuthoritySpec>): string {
  return givenText(desired, desired.spec.caPEM, desired.spec.caPEMFrom)
}

function pemProblems(path: string, pem: string): readonly string[] {
  const problem = pemProblem(pem)
  return problem === undefined ? [] : [`${path}: ${problem}`]
}

function namesOf(value: unknown): readonly string[] | undefined {
  const names = textsOf(value).slice(0, USAGES)
  return names.length === 0 ? undefined : names.map((name) => cut(name, 128))
}

function readiness({ remote, now }: ReadinessView<CertificateAuthoritySpec>) {
  const notAfter = timeOf(remote.not_after)
  const left = notAfter === undefined ? Number.POSITIVE_INFINITY : Date.parse(notAfter) - now
  if (left <= 0) {
    const message = `the authority expired at ${notAfter} and no longer admits anybody: put the PEM of its successor into the spec`
    return { ready: false, reason: reasons.Expired, message, stalled: true }
  }
  const ready = available('the authority is uploaded')
  return Number.isFinite(left) ? { ...ready, pollMs: pollIn(left) } : ready
}

const BLOCK = /-----BEGIN ([^-]+)-----([^-]*)-----END \1-----/g

/** Only the encoded content: line ends, indents and comments between blocks have no meaning. */
function comparablePEM(pem: string): string {
  const blocks = [...pem.matchAll(BLOCK)].map(([, label, body = '']) => `${label} ${body.replaceAll(/\s/g, '')}`)
  return blocks.length === 0 ? pem.trim() : blocks.join('\n')
}

/**
 * Why a text is not the PEM of certificate authorities, with the remedy; undefined if it is. Never quotes the text: a
 * private key put there by mistake must not spread.
 */
function pemProblem(pem: string): string | undefined {
  const labels = [...pem.matchAll(BLOCK)].map(([, label = '']) => label)
  if (pem.includes('PRIVATE KEY'))
    return 'holds a private key, which is never to be uploaded: keep the certificates only'
  if (labels.length === 0)
    return 'holds no PEM block: put -----BEGIN CERTIFICATE----- … -----END CERTIFICATE----- there'
  const other = labels.find((label) => label !== 'CERTIFICATE')
  return other === undefined ? undefined : `holds a ${other} block: keep the certificates only`
}
