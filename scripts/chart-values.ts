import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'

/** One value of a chart, or a group of them, as values.yaml describes it. */
export interface ChartValue {
  /** Path of the value: `image.tag`. */
  readonly path: string
  /** The comment above it; empty without one. */
  readonly description: string
  /** Its default; absent for a group. */
  readonly preset?: unknown
}

/**
 * The values of a values.yaml in order. A mapping is a group if its members have comments of their own, or if it has
 * none itself; otherwise it is one value.
 */
export function chartValues(text: string): readonly ChartValue[] {
  const { contents } = parseDocument(text)
  return isMap(contents) ? members(contents, []) : []
}

/** The values that can be set: all except groups. */
export function settable(values: readonly ChartValue[]): readonly ChartValue[] {
  return values.filter((value) => 'preset' in value)
}

function members(map: YAMLMap, parents: readonly string[]): readonly ChartValue[] {
  return map.items.flatMap((pair, index) => {
    const path = [...parents, String(isScalar(pair.key) ? pair.key.value : pair.key)]
    const description = commentOf(pair, index === 0 ? map : undefined)
    const { value } = pair
    if (!isGroup(value, description)) return [{ path: path.join('.'), description, preset: presetOf(value) }]
    const group = description === '' ? [] : [{ path: path.join('.'), description }]
    return [...group, ...members(value, path)]
  })
}

function isGroup(value: unknown, description: string): value is YAMLMap {
  if (!isMap(value) || value.items.length === 0) return false
  return (
    description === '' || value.items.some((pair, index) => commentOf(pair, index === 0 ? value : undefined) !== '')
  )
}

/** The parser attaches a comment before the first member to the mapping. Of several blocks the last one applies. */
function commentOf({ key }: Pair, map: YAMLMap | undefined): string {
  const own = isScalar(key) ? key.commentBefore : undefined
  const comment = own ?? map?.commentBefore ?? ''
  const block = comment.split(/\n\s*\n/).at(-1) ?? ''
  return block.replaceAll(/\s+/g, ' ').trim()
}

function presetOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'toJSON' in value ? (value as YAMLMap).toJSON() : value
}
