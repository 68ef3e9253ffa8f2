import type { RequestBody } from './types.ts'

/** The API does not treat the id of an access key as secret, but like the key it comes from a Secret. */
const SECRET_FIELD = /secret|token|api_?key|access_?key|password|authorization|cookie/i

/** Every string in `body` under a field whose name suggests a secret, at any depth. */
export function secretsIn(body: RequestBody): string[] {
  const found: string[] = []
  const visit = (value: unknown, secret: boolean): void => {
    if (typeof value === 'string') {
      if (secret && value !== '') found.push(value)
      return
    }
    if (value === null || typeof value !== 'object') return
    for (const [key, member] of Object.entries(value)) {
      visit(member, secret || (!Array.isArray(value) && SECRET_FIELD.test(key)))
    }
  }
  visit(body, false)
  return found
}

/**
 * `text` with each of `secrets` replaced, longest first, so that no part of a secret that contains another one remains.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length)
  return longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
