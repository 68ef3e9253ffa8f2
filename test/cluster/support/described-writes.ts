import { type DescribedWrite, describedWrites } from '../../../scripts/permissions/operator-writes.ts'
import { type Shape, sentPaths } from '../../../scripts/permissions/shape.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'

/** What the policy for the operator describes, compared with what is sent. */
export const described = describedWrites(new KindsRegistry(kinds))

/** Whether a shape lists a field (`*` in the path is any item or key): with any value, or only with some. */
export function listing(shape: Shape, path: readonly string[]): 'no' | 'any' | 'some' {
  const [name, ...rest] = path
  if (shape.type === 'value') return shape.holds('x') === 'true' ? 'any' : 'some'
  if (shape.type === 'map') return 'some'
  if (name === undefined) return 'any'
  if (shape.type === 'list') return listing(shape.items, rest)
  const field = shape.fields[name]
  return field === undefined ? 'no' : listing(field as Shape, rest)
}

/** The resource of a description, as `group/plural` or `plural`, with its subresource. */
function resourceOf({ type: { group, plural }, subresource }: Pick<DescribedWrite, 'type' | 'subresource'>): string {
  return `${group === '' ? '' : `${group}/`}${plural}${subresource === undefined ? '' : `/${subresource}`}`
}

/** What the cluster suite does not send by day, and where it is seen. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  // The chart suite, with `watchNamespaces`.
  'rbac.authorization.k8s.io/rolebindings: metadata.finalizers',
  // Unit tests of the status: the emulator names its addresses.
  'services/status: status.loadBalancer.ingress.*.ip',
  'services/status: status.loadBalancer.ingress.*.ipMode',
])

/** Fields that operators sent, by resource: paths with `*` for items. */
export type SentFields = ReadonlyMap<string, ReadonlySet<string>>

/** The audit log has no bodies of Secrets, and the API server stores no review. */
const WITHOUT_BODY = /^secrets$|reviews$/

/**
 * @returns sent and not described, which the policy refuses where it is in force; described and never sent, which it
 *   admits for nothing
 */
export function compare(sent: SentFields): {
  readonly undescribed: readonly string[]
  readonly unsent: readonly string[]
} {
  const shapes = Map.groupBy(described, resourceOf)
  const undescribed = [...sent].flatMap(([resource, paths]) => {
    const all = shapes.get(resource) ?? []
    return [...paths]
      .filter((path) => all.every(({ shape }) => listing(shape, path.split('.').map(unescaped)) === 'no'))
      .map((path) => `${resource}: ${path}`)
  })
  const unsent = [...shapes].flatMap(([resource, all]) => {
    if (WITHOUT_BODY.test(resource)) return []
    const paths = [...(sent.get(resource) ?? [])]
    const wanted = new Set(all.flatMap(({ shape }) => sentPaths(shape)))
    return [...wanted]
      .filter((path) => {
        const pattern = path.slice(1).split('.')
        return !paths.some((each) => matches(each.split('.').map(unescaped), pattern))
      })
      .map((path) => `${resource}: ${path.slice(1)}`)
      .filter((field) => !ELSEWHERE.has(field))
  })
  return { undescribed, unsent }
}

function matches(path: readonly string[], pattern: readonly string[]): boolean {
  return pattern.every((name, index) => (name === '*' ? path[index] !== undefined : path[index] === name))
}

/** The paths of all values of an object; keys with dots are escaped. A value that is null removes. */
export function pathsOf(value: unknown, prefix: readonly string[] = []): readonly string[] {
  if (value === null) return []
  if (typeof value !== 'object') return [prefix.map(escaped).join('.')]
  const entries = Array.isArray(value) ? value.map((each) => ['*', each] as const) : Object.entries(value)
  if (entries.length === 0) return [prefix.map(escaped).join('.')]
  return entries.flatMap(([name, each]) => pathsOf(each, [...prefix, name]))
}

const DOT = '\u2024'

function escaped(name: string): string {
  return name.replaceAll('.', DOT)
}

function unescaped(name: string): string {
  return name.replaceAll(DOT, '.')
}
