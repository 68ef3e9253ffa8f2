/** Deep equality of JSON values in which an absent field equals `undefined`. Key order does not matter. */
export function equalJSON(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (!isObject(left) || !isObject(right)) return false
  if (Array.isArray(left) || Array.isArray(right)) return isSameList(left, right)
  let fields = 0
  for (const key of Object.keys(left)) {
    const value = left[key]
    if (value === undefined) continue
    // Not what the prototype has under that name.
    if (!Object.hasOwn(right, key) || !equalJSON(value, right[key])) return false
    fields++
  }
  return fields === countFields(right)
}

type JSONObject = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null
}

function isSameList(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
  return left.every((value, index) => equalJSON(value, right[index]))
}

function countFields(object: JSONObject): number {
  let fields = 0
  for (const key of Object.keys(object)) if (object[key] !== undefined) fields++
  return fields
}
