import { GROUP } from '../names.ts'

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const PREFIX_LENGTH = 253

/** Whether a label or annotation is Culvert's own, which no one else sets. */
export function isOwnKey(key: string): boolean {
  const prefix = prefixOf(key)
  return prefix === GROUP || (prefix?.endsWith(`.${GROUP}`) ?? false)
}

/**
 * The keys of labels or annotations that the API server would refuse, or that are Culvert's own; `path` is the path of
 * the map. CEL assumes no bound for the length of keys, so it cannot check them all.
 */
export function keyProblems(path: string, entries: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.keys(entries).flatMap((key) => {
    if (isOwnKey(key)) {
      return [`${path}: ${JSON.stringify(key)} is under ${GROUP}, which is Culvert's own: choose another prefix`]
    }
    return isKey(key)
      ? []
      : [`${path}: ${JSON.stringify(key)} is not a valid key: write name or prefix/name, such as example.com/team`]
  })
}

function isKey(key: string): boolean {
  const prefix = prefixOf(key)
  const name = prefix === undefined ? key : key.slice(prefix.length + 1)
  return NAME.test(name) && (prefix === undefined || (prefix.length <= PREFIX_LENGTH && PREFIX.test(prefix)))
}

function prefixOf(key: string): string | undefined {
  const slash = key.indexOf('/')
  return slash < 0 ? undefined : key.slice(0, slash)
}
