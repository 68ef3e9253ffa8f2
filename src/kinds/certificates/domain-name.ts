import type { Fields } from '../../managed/descriptor/fields.ts'

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/** A lower-case DNS name of at least two labels. */
export const HOST_PATTERN = `^(${LABEL}\\.)+${LABEL}$`
/** The same, or a wildcard for the names one label below. */
export const DOMAIN_PATTERN = `^(\\*\\.)?(${LABEL}\\.)+${LABEL}$`
/** Longest DNS name in characters. */
export const DOMAIN_LENGTH = 253

const TARGET = new RegExp(HOST_PATTERN)
/** No top-level domain is a number: what ends in one is an IP address. */
const ADDRESS = /(^|\.)[0-9]+$/

/**
 * A value of an answer as the name that a DNS record may point to: in lower case, without the dot at its end; undefined for all that is none. Underscores
 * stand in no name of a host.
 * @param prefix that may stand before the name, such as that of a challenge
 */
export function targetName(value: unknown, prefix = ''): string | undefined {
  if (typeof value !== 'string' || value.length > DOMAIN_LENGTH + 1) return undefined
  const name = value.toLowerCase().replace(/\.$/, '')
  const host = prefix !== '' && name.startsWith(prefix) ? name.slice(prefix.length) : name
  return name.length <= DOMAIN_LENGTH && TARGET.test(host) && !ADDRESS.test(host) ? name : undefined
}

const DOMAIN = new RegExp(DOMAIN_PATTERN)

/** The domain that an answer names, in lower case; undefined for all that is none. */
export function answeredDomain(value: unknown): string | undefined {
  const domain = typeof value === 'string' ? value.toLowerCase() : ''
  return domain.length <= DOMAIN_LENGTH && DOMAIN.test(domain) ? domain : undefined
}

/** Whether the reserved name `domain` covers `host`: it is the same, or a wildcard one label above. */
export function covers(domain: string, host: string): boolean {
  return domain === host || domain === `*.${host.slice(host.indexOf('.') + 1)}`
}

/** The one name that the API lets no two domains of a kind have. */
export function uniqueDomain({ domain }: Fields): readonly string[] {
  return [answeredDomain(domain)].filter((name) => name !== undefined)
}
