const PATTERN = /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether a text is a lower-case DNS name, or `*.` followed by one. */
export function isDomainPattern(text: string): boolean {
  return text.length <= 253 && PATTERN.test(text)
}

/**
 * Whether a pattern covers a name. `shop.example.com` covers only itself; `*.example.com` covers every name below
 * `example.com` at any depth, including the wildcard `*.example.com`, but not `example.com`.
 */
export function coversDomain(pattern: string, name: string): boolean {
  return pattern.startsWith('*.')
    ? name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1
    : name === pattern
}
