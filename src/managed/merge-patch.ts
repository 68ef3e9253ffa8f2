import { equalJSON } from './equal.ts'

type JSONObject = Readonly<Record<string, unknown>>

/**
 * The JSON merge patch (RFC 7396) that turns `before` into `after`; undefined when they are equal.
 * Absent and `undefined` fields of `after` are removed.
 */
export function mergePatch(before: JSONObject, after: JSONObject): JSONObject | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changes = [...names].flatMap((name) => {
    const [from, to] = [own(before, name), own(after, name)]
    return equalJSON(from, to) ? [] : [[name, change(from, to)] as const]
  })
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

function change(from: unknown, to: unknown): unknown {
  if (to === undefined) return null
  return isObject(from) && isObject(to) ? mergePatch(from, to) : to
}

/** A field may have any name, that of something every object inherits too. */
function own(object: JSONObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function isObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
