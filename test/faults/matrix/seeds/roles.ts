import { kinds } from '../../../../src/kinds/index.ts'
import { editStories } from '../../../builders/edits/all.ts'
import type { EditStory } from '../../../builders/edits/edit.ts'
import type { Manifest } from '../../../builders/specs.ts'
import { edited, needsOf } from '../../simulation/episodes.ts'

type Fields = Readonly<Record<string, unknown>>

/** A resource that a story may be about. */
export interface Role {
  readonly kind: string
  readonly name: string
  /** Specs that it may be given, each after each other. */
  readonly versions: readonly Fields[]
  /** What these refer to, each after what it refers to itself. */
  readonly needs: readonly Manifest[]
  /** Whether it holds a token, which can be rotated. */
  readonly hasToken: boolean
  /** So many of the first versions can follow each other on an object that was adopted: none makes another in its place. */
  readonly kept: number
}

/** Specs of a role at most: fresh ones are made of each. */
const VERSIONS = 6
/** A former token stays for so long. Nothing is at rest before. */
const OVERLAP = '2s'

/** Everybody who may appear in a story. */
export const roles: readonly Role[] = editStories.map(roleOf)

function roleOf(story: EditStory): Role {
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
  // What is valid in years to come is at rest in years to come.
  const versions = all.filter(({ validAfter }) => validAfter === undefined)
  const replaces = edits.findIndex(({ sends }) => sends === 'another object')
  // A token is known to whoever made the object, and certificates are made anew in time.
  const isRenewed = hasToken || kind.endsWith('Certificate') || versions.length < all.length
  const kept = replaces < 0 ? count : all.filter((_, index) => editsOf(index) <= replaces).length
  return { kind, name: title, versions, needs: needsOf(story), hasToken, kept: isRenewed ? 0 : kept }
}

/** The kinds that resources of these roles are of, with those that they refer to. */
export function kindsAmong(cast: readonly Role[]): ReadonlySet<string> {
  return new Set(cast.flatMap(({ kind, needs }) => [kind, ...needs.map((need) => need.kind)]))
}

/** What the roles refer to, each once. */
export function needsAmong(cast: readonly Role[]): readonly Manifest[] {
  return [...new Set(cast.flatMap(({ needs }) => needs))]
}
