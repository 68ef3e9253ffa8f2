import { invalid } from '../values/request-error.ts'
import { type Reader, reader } from './field.ts'

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const ONLY_DIGITS = /^\d+$/

/** Whether `name` is a lower-case DNS name of at least two labels. */
function isHostname(name: string): boolean {
  return name.includes('.') && isName(name)
}

/** Whether `name` is a lower-case DNS name, of one label or more. */
export function isName(name: string): boolean {
  const labels = name.split('.')
  return name.length <= 253 && labels.every((label) => LABEL.test(label)) && !ONLY_DIGITS.test(labels.at(-1) ?? '')
}

/** A DNS name, lower-cased; with a leading `*.` it matches every name one label below. */
export const domainName: Reader<string> = reader(
  { type: 'string', description: 'A DNS name of at least two labels; it may begin with *.' },
  (value, at) => {
    if (typeof value !== 'string') throw invalid(at, 'must be a string')
    const name = value.toLowerCase()
    if (!isHostname(name.replace(/^\*\./, ''))) throw invalid(at, `${JSON.stringify(value)} is not a domain name`)
    return name
  },
)

/** A DNS name without a wildcard, lower-cased: the base of an agent ingress's regional domains. */
export const ingressDomain: Reader<string> = reader(
  { type: 'string', description: 'A DNS name of at least two labels, no wildcard.' },
  (value, at) => {
    const name = domainName(value, at)
    if (name.startsWith('*.')) throw invalid(at, `${name} is a wildcard; name the domain that is delegated`)
    return name
  },
)

/**
 * Whether `name`, without a wildcard, is a subdomain of the service's own domain, which needs no DNS records, or a
 * custom one. The service's domain itself is refused.
 */
export function domainClass(name: string, serviceDomain: string, at: string): 'service' | 'custom' {
  if (name === serviceDomain) throw invalid(at, `${name} belongs to the service`)
  return name.endsWith(`.${serviceDomain}`) ? 'service' : 'custom'
}

/** `host:port`, the host lower-cased. The edge checks that the account owns the host. */
export const hostport: Reader<string> = reader({ type: 'string', pattern: '^[^:]+:[1-9][0-9]{0,4}$' }, (value, at) => {
  if (typeof value !== 'string') throw invalid(at, 'must be a string')
  const match = /^([^:\s]+):([1-9]\d{0,4})$/.exec(value)
  const host = match?.[1]?.toLowerCase()
  const port = Number(match?.[2])
  if (host === undefined || !isHostname(host) || port > 65_535) {
    throw invalid(at, `${JSON.stringify(value)} is not of the form host:port`)
  }
  return `${host}:${port}`
})

/** The reserved names that would cover `host`: itself, or the wildcard that replaces its first label. */
export function coveringNames(host: string): readonly string[] {
  return [host, `*.${host.slice(host.indexOf('.') + 1)}`]
}
