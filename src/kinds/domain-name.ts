const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/** A lower-case DNS name of at least two labels. */
export const HOST_PATTERN = `^(${LABEL}\\.)+${LABEL}$`
/** The same, or a wildcard for the names one label below. */
export const DOMAIN_PATTERN = `^(\\*\\.)?(${LABEL}\\.)+${LABEL}$`
/** Longest DNS name in characters. */
export const DOMAIN_LENGTH = 253

/** Whether the reserved name `domain` covers `host`: it is the same, or a wildcard one label above. */
export function covers(domain: string, host: string): boolean {
  return domain === host || domain === `*.${host.slice(host.indexOf('.') + 1)}`
}
