type JSONObject = Readonly<Record<string, unknown>>

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

function isObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
