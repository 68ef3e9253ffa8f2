import type { Fields } from '../../managed/descriptor/common.ts'

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/** A lower-case DNS name of at least two labels. */
export const HOST_PATTERN = `^(${LABEL}\\.)+${LABEL}$`
/** The same, or a wildcard for the names one label below. */
export const DOMAIN_PATTERN = `^(\\*\\.)?(${LABEL}\\.)+${LABEL}$`
/** What matches HOST_PATTERN, for people. */
export const HOST_WORDS =
  'a DNS name in lower case, such as shop.example.com: write other letters in their ASCII form, such as xn--bcher-kva.example for bücher.example'
/** What matches DOMAIN_PATTERN. */
export const DOMAIN_WORDS = HOST_WORDS.replace('shop.example.com', 'shop.example.com or *.example.com')
/** Longest DNS name in characters. */
export const DOMAIN_LENGTH = 253

const TARGET = new RegExp(HOST_PATTERN)
/** No top-level domain is a number: a name that ends in one is an IP address. */
const ADDRESS = /(^|\.)[0-9]+$/

/**
 * A value from a response as the name that a DNS record may point to: in lower case and without a trailing dot;
 * undefined if it is not such a name. Host names contain no underscores.
 * @param prefix that may precede the name, such as that of a challenge
 */
export function targetName(value: unknown, prefix = ''): string | undefined {
  if (typeof value !== 'string' || value.length > DOMAIN_LENGTH + 1) return undefined
  const name = value.toLowerCase().replace(/\.$/, '')
  const host = prefix !== '' && name.startsWith(prefix) ? name.slice(prefix.length) : name
  return name.length <= DOMAIN_LENGTH && TARGET.test(host) && !ADDRESS.test(host) ? name : undefined
}

const DOMAIN = new RegExp(DOMAIN_PATTERN)

/** The domain that a response names, in lower case; undefined if it names none. */
export function answeredDomain(value: unknown): string | undefined {
  const domain = typeof value === 'string' ? value.toLowerCase() : ''
  return domain.length <= DOMAIN_LENGTH && DOMAIN.test(domain) ? domain : undefined
}

/** The wildcard that covers `host`: one label above. */
export function wildcardAbove(host: string): string {
  return `*.${host.slice(host.indexOf('.') + 1)}`
}

/** The name that must be unique among domains of a kind at the API. */
export function uniqueDomain({ domain }: Fields): readonly string[] {
  return [answeredDomain(domain)].filter((name) => name !== undefined)
}
