import { MARK_KEY, parseObject } from '../../managed/descriptor/metadata.ts'
import { parseMarker } from '../../managed/identity/marker.ts'

/**
 * A text that carries Culvert's mark without the mark: people only look for their own keys in it. Any other value is
 * left as it is.
 */
export function ownKeysOf(value: unknown): unknown {
  if (parseMarker(value) === undefined) return value
  const { [MARK_KEY]: _mark, ...own } = parseObject(String(value)) ?? {}
  return Object.keys(own).length === 0 ? undefined : own
}
