/** The number of the TLS version that a text names; undefined if none. */
export function tlsVersionNamed(text: string): string | undefined {
  return /^(?:tls[ _-]?v?)?(1\.[0-3])$/i.exec(text)?.[1]
}
