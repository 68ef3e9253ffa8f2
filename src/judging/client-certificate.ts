import { X509Certificate } from 'node:crypto'
import type { Finding, Known } from './world.ts'

/** The extended key usage of RFC 5280 that a client's certificate needs if it has any. */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USAGE = '2.5.29.37.0'
/** Links of a chain that are followed. */
const LONGEST_CHAIN = 10

/** Certificates in a PEM. @throws Error if one cannot be read, or there is none */
function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error('no certificate in PEM was found')
  return blocks.map((block) => new X509Certificate(block))
}

/** The authorities of an edge that demands a certificate. */
export type Authorities = readonly (readonly [id: string, pem: Known<string> | undefined])[]

/** Whether one of the authorities has issued the client's certificate, which must be valid now. */
export function judgeClientCertificate(pem: string | undefined, authorities: Authorities, at: number): Finding {
  const names = authorities.map(([id, each]) => (each === undefined || 'unknown' in each ? id : each.source.name))
  if (pem === undefined) {
    return { outcome: 'refuses', text: `the edge requires a client certificate issued by ${names.join(' or ')}` }
  }
  const [client, ...links] = certificatesIn(pem)
  if (client === undefined) throw new Error('no certificate in PEM was found')
  const problem = problemOf(client, at)
  if (problem !== undefined) return { outcome: 'refuses', text: `the client certificate ${problem}` }
  let unknown: string | undefined
  for (const [id, authority] of authorities) {
    if (authority === undefined) continue
    if ('unknown' in authority) {
      unknown ??= authority.unknown
      continue
    }
    const roots = readable(authority.value)
    if (roots === undefined) unknown ??= `the PEM of ${authority.source.name} cannot be read`
    else if (isIssuedBy(client, { links, roots, at })) {
      return {
        outcome: 'passes',
        text: `${authority.source.name} has issued the client certificate`,
        rule: authority.source.isHidden ? undefined : id,
        source: authority.source,
      }
    }
  }
  if (unknown !== undefined) return { outcome: 'unknown', text: unknown }
  return { outcome: 'refuses', text: `the client certificate was not issued by ${names.join(' or ')}` }
}

/** Whether a text has certificates in PEM that can be read. */
export function isCertificate(pem: string): boolean {
  return readable(pem) !== undefined
}

function readable(pem: string): readonly X509Certificate[] | undefined {
  try {
    return certificatesIn(pem)
  } catch {
    return undefined
  }
}

function problemOf(certificate: X509Certificate, at: number): string | undefined {
  if (at > certificate.validToDate.getTime()) return `has expired on ${certificate.validToDate.toISOString()}`
  if (at < certificate.validFromDate.getTime()) return `is not valid before ${certificate.validFromDate.toISOString()}`
  // Node names the extended usages like this.
  const usages: readonly string[] | undefined = certificate.keyUsage
  if (usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE)) return undefined
  return 'is not for client authentication'
}

interface Issuers {
  /** What the client sends along. */
  readonly links: readonly X509Certificate[]
  /** What is trusted. */
  readonly roots: readonly X509Certificate[]
  readonly at: number
}

/** Whether a chain of issuers ends at a root that is trusted and has issued itself, as OpenSSL demands. */
function isIssuedBy(certificate: X509Certificate, issuers: Issuers, length = 0): boolean {
  const { links, roots, at } = issuers
  const isOf = (issuer: X509Certificate): boolean =>
    issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey) && isValid(issuer, at)
  if (roots.some((root) => isOf(root) && root.checkIssued(root))) return true
  if (length === LONGEST_CHAIN) return false
  return [...links, ...roots].some((link) => isOf(link) && isIssuedBy(link, issuers, length + 1))
}

function isValid({ validFromDate, validToDate }: X509Certificate, at: number): boolean {
  return at >= validFromDate.getTime() && at <= validToDate.getTime()
}
