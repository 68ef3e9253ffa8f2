// The X.509 library below uses decorators that need this import first.
import 'reflect-metadata'
import { createHash } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from '@peculiar/x509'
import { type JsonObject, rfc3339 } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'
import { type Reader, reader } from './field.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g
const LABEL = /-----BEGIN ([^-]*)-----/g

/**
 * One or more X.509 certificates in PEM. Text between them is allowed and stored unchanged; any other kind of block is
 * refused, above all a private key, since uploads are shown again. `authorityFacts` checks the content of the blocks,
 * so that each certificate is parsed once.
 */
export const caPem: Reader<string> = reader(
  { type: 'string', description: 'X.509 certificates in PEM, each of a certificate authority.' },
  (value, at) => {
    if (typeof value !== 'string') throw invalid(at, 'must be a string')
    const labels = [...value.matchAll(LABEL)].map(([, label = '']) => label)
    const other = labels.find((label) => label !== 'CERTIFICATE')
    if (other !== undefined) throw invalid(at, `holds a ${JSON.stringify(other)} beside certificates`)
    const blocks = blocksIn(value).length
    if (blocks === 0) throw invalid(at, 'holds no certificate in PEM')
    if (blocks < labels.length) throw invalid(at, 'a certificate has no proper end')
    return value
  },
)

/**
 * What the API shows of an uploaded authority besides its PEM, which `caPem` has accepted: the facts of its first
 * certificate. Each certificate must be of a certificate authority by its basic constraints (`api-decisions.md
 * § Values`), or it is refused naming `at`.
 */
export function authorityFacts(pem: string, at: string): JsonObject {
  const [first, ...others] = blocksIn(pem)
  if (first === undefined) throw invalid(at, 'holds no certificate in PEM')
  const facts = factsOf(first, 1, at)
  others.forEach((content, index) => {
    factsOf(content, index + 2, at)
  })
  return facts
}

/** In the order of their bits (RFC 5280 § 4.2.1.3). */
const KEY_USAGES = [
  [KeyUsageFlags.digitalSignature, 'digitalSignature'],
  [KeyUsageFlags.nonRepudiation, 'nonRepudiation'],
  [KeyUsageFlags.keyEncipherment, 'keyEncipherment'],
  [KeyUsageFlags.dataEncipherment, 'dataEncipherment'],
  [KeyUsageFlags.keyAgreement, 'keyAgreement'],
  [KeyUsageFlags.keyCertSign, 'keyCertSign'],
  [KeyUsageFlags.cRLSign, 'crlSign'],
  [KeyUsageFlags.encipherOnly, 'encipherOnly'],
  [KeyUsageFlags.decipherOnly, 'decipherOnly'],
] as const

/** Extended key usages with a name (RFC 5280 § 4.2.1.12). */
const PURPOSES: Readonly<Record<string, string>> = {
  '2.5.29.37.0': 'anyExtendedKeyUsage',
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'ocspSigning',
}

/** SHA-256 of each certificate in the PEM of an authority, in hexadecimal: the same wherever it is uploaded. */
export function digestsIn(pem: string): readonly string[] {
  return blocksIn(pem).map((content) => digestOf(Buffer.from(content, 'base64')))
}

/** SHA-256 of a certificate in DER, in hexadecimal. */
export function digestOf(certificate: Buffer): string {
  return createHash('sha256').update(certificate).digest('hex')
}

/** The content between the first and last line of each block. */
function blocksIn(pem: string): readonly string[] {
  return [...pem.matchAll(BLOCK)].map(([, content = '']) => content)
}

/** The response fields derived from the certificate with this number. */
function factsOf(content: string, number: number, at: string): JsonObject {
  const { isAuthority, facts } = readAt(content, number, at)
  if (!isAuthority) throw invalid(at, `certificate ${number} is not of a certificate authority`)
  return facts
}

interface Certificate {
  readonly isAuthority: boolean
  readonly facts: JsonObject
}

function readAt(content: string, number: number, at: string): Certificate {
  try {
    return read(new X509Certificate(Buffer.from(content, 'base64')))
  } catch {
    throw invalid(at, `certificate ${number} cannot be read as X.509`)
  }
}

/** The library decodes each part only when it is read, and throws then. */
function read(certificate: X509Certificate): Certificate {
  const [commonName = ''] = certificate.subjectName.getField('CN')
  const flags = certificate.getExtension(KeyUsagesExtension)?.usages ?? 0
  const purposes = certificate.getExtension(ExtendedKeyUsageExtension)?.usages ?? []
  return {
    isAuthority: certificate.getExtension(BasicConstraintsExtension)?.ca === true,
    facts: {
      subject_common_name: commonName,
      not_before: rfc3339(certificate.notBefore.getTime()),
      not_after: rfc3339(certificate.notAfter.getTime()),
      key_usages: KEY_USAGES.filter(([flag]) => (flags & flag) !== 0).map(([, name]) => name),
      extended_key_usages: purposes.map(String).map((oid) => PURPOSES[oid] ?? oid),
    },
  }
}
