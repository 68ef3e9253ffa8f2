/** Whether a value is an object with members: no list, and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The result of a JSON merge patch, word for word as in RFC 7396. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name)
    else if (value !== undefined) result.set(name, applyMergePatch(result.get(name), value))
  }
  return Object.fromEntries(result)
}
