import type { RequestBody } from './types.ts'

/** The id of an access key is no secret to the API, but it comes out of a Secret as the key does. */
const SECRET_FIELD = /secret|token|api_?key|access_?key|password|authorization|cookie/i

/** Every string of `body` that stands under a field named like a secret, at any depth. */
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

/** `text` with each of `secrets` replaced, longest first, so that a secret inside another leaves no rest. */
export function redact(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length)
  return longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
