import { kinds } from '../../../src/kinds/index.ts'

/** The operator's kind for a collection, and the name of its fixed-point test. */
interface ManagingKind {
  readonly kind: string
  /** A test that a CR of the kind, once written, needs no further write, whatever its fields were before. */
  readonly settles: string
}

/**
 * A test that everything in a spec of the kind is sent to the API. A fixed point alone could also be reached by sending
 * nothing.
 */
export const reaches = (kind: string): string =>
  `unit/kinds/reach.test.ts > whatever a spec of ${kind} says stands in a request`

/** A test that an object of the kind ends in the same state at an emulator, whatever its spec was before. */
export const lives = (kind: string): string =>
  `contract/kinds/generated-specs.test.ts > any spec of ${kind} > is taken, needs no second look, and comes to the same whatever was before`

const settles = (kind: string, path: string): string =>
  `unit/kinds/fixed-point.test.ts > after one write nothing is left to do, whatever the spec was before, for ${kind} in ${path}`

/** Of a kind with children, which are compared one by one. */
const SETTLES_CHILDREN = 'unit/managed/plan/plan.test.ts > an update > applied as it is leaves nothing to do'

/** By path. It is a gap if a collection that a kind must manage is missing here. */
export const managingKinds: Readonly<Record<string, ManagingKind>> = Object.fromEntries(
  kinds.flatMap((descriptor) => {
    if (descriptor.role !== 'managed') return []
    const { kind } = descriptor.definition
    return descriptor.identity.collections.map(({ path }) => {
      return [path, { kind, settles: descriptor.children === undefined ? settles(kind, path) : SETTLES_CHILDREN }]
    })
  }),
)
