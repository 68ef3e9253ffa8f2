import { equalJSON, ownField } from '../../util/json.ts'

type JSONObject = Readonly<Record<string, unknown>>

/**
 * The JSON merge patch (RFC 7396) that turns `before` into `after`; undefined if they are equal. Absent and `undefined`
 * fields of `after` are removed.
 */
export function mergePatch(before: JSONObject, after: JSONObject): JSONObject | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changes = [...names].flatMap((name) => {
    const [from, to] = [ownField(before, name), ownField(after, name)]
    return equalJSON(from, to) ? [] : [[name, change(from, to)] as const]
  })
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

function change(from: unknown, to: unknown): unknown {
  if (to === undefined) return null
  return isObject(from) && isObject(to) ? mergePatch(from, to) : to
}

function isObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
