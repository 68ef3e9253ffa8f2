import { kinds } from '../../../../src/kinds/index.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import { editStories, type KindEditStory } from '../../../kinds/lookup.ts'
import { edited, needsOf } from '../../simulation/episodes.ts'

type Fields = Readonly<Record<string, unknown>>

/** A resource that may appear in a story. */
export interface Role {
  readonly kind: string
  readonly name: string
  /** Specs that it may be given, in any order. */
  readonly versions: readonly Fields[]
  /** Their dependencies, in order of creation. */
  readonly needs: readonly Manifest[]
  /** Whether it holds a token, which can be rotated. */
  readonly hasToken: boolean
  /** Whether one of its specs has something written into a Secret or ConfigMap. */
  readonly hasOutput: boolean
  /** How many of the first versions can follow each other on an adopted object: none of them replaces it. */
  readonly kept: number
}

/** Maximum number of specs of a role: a fresh resource is made of each. */
const VERSIONS = 6
/** How long a replaced token stays valid. Nothing is at rest before. */
const OVERLAP = '2s'

/** All resources that may appear in a story. */
export const roles: readonly Role[] = editStories.map(roleOf)

function roleOf(story: KindEditStory): Role {
  const { kind, title, base, edits } = story
  const hasToken = kinds.some(({ role, definition, ...rest }) => {
    return role === 'managed' && definition.kind === kind && 'output' in rest && rest.output?.type === 'one-time'
  })
  const count = Math.min(VERSIONS, edits.length + 1)
  const editsOf = (index: number): number => Math.round((index * edits.length) / Math.max(1, count - 1))
  const all = Array.from({ length: count }, (_, index) => {
    const spec = edited(base, edits.slice(0, editsOf(index)))
    return hasToken ? { ...spec, rotation: { interval: '720h', overlap: OVERLAP } } : spec
  })
  // A spec that is valid only in years would be at rest only in years.
  const versions = all.filter(({ validAfter }) => validAfter === undefined)
  const replaces = edits.findIndex(({ sends }) => sends === 'another object')
  // Only the creator of the object knows its token, and certificates are renewed in time.
  const isRenewed = hasToken || kind.endsWith('Certificate') || versions.length < all.length
  const kept = replaces < 0 ? count : all.filter((_, index) => editsOf(index) <= replaces).length
  const hasOutput = hasToken || versions.some(({ output }) => output !== undefined)
  return { kind, name: title, versions, needs: needsOf(story), hasToken, hasOutput, kept: isRenewed ? 0 : kept }
}

/** The kinds of these roles and of their dependencies. */
export function kindsAmong(cast: readonly Role[]): ReadonlySet<string> {
  return new Set(cast.flatMap(({ kind, needs }) => [kind, ...needs.map((need) => need.kind)]))
}

/** The dependencies of the roles, each once. */
export function needsAmong(cast: readonly Role[]): readonly Manifest[] {
  return [...new Set(cast.flatMap(({ needs }) => needs))]
}
