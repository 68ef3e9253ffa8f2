import { invalid } from '../errors.ts'
import { type Reader, reader } from '../fields/field.ts'

const FORM = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/

/** A version that an agent can be updated to: `3.9.1`. */
export const release: Reader<string> = reader({ type: 'string', pattern: FORM.source }, (value, at) => {
  if (typeof value !== 'string' || !FORM.test(value)) throw invalid(at, 'must be a version of the form 3.9.1')
  return value
})

/**
 * The version that an agent updates to: the latest available one of its major version; undefined when none is newer
 * (`management-api.md § Endpoints`, Tunnel sessions, rule 3). An agent whose version has another form has no update.
 */
export function latestInMajor(current: string, versions: readonly string[]): string | undefined {
  const major = FORM.exec(current)?.[1]
  const newer = versions.filter((version) => FORM.exec(version)?.[1] === major && compare(version, current) > 0)
  return newer.toSorted(compare).at(-1)
}

function compare(left: string, right: string): number {
  const [one, other] = [left.split('.').map(Number), right.split('.').map(Number)]
  const at = one.findIndex((part, index) => part !== other[index])
  return (one[at] ?? 0) - (other[at] ?? 0)
}
