import { roles } from './roles.ts'
import type { Step, Story } from './story.ts'

/**
 * A story that failed once, kept in full: the meaning of a seed's number changes whenever the drawing of stories does.
 */
export interface KeptStory {
  /** The seed it was drawn from; the world takes its randomness from it. */
  readonly seed: number
  /** The defect that it found. */
  readonly found: string
  /** Roles as `Kind/name`. */
  readonly cast: readonly string[]
  readonly replicas: number
  readonly isShared?: boolean
  readonly adopters?: readonly number[]
  readonly choices?: NonNullable<Story['choices']>
  readonly steps: readonly Step[]
}

/** @throws Error for a role that no longer exists: the story needs another one. */
export function storyFrom({ cast, found: _, ...told }: KeptStory): Story {
  return { ...told, cast: cast.map(roleNamed) }
}

function roleNamed(wanted: string): Story['cast'][number] {
  const found = roles.find(({ kind, name }) => `${kind}/${name}` === wanted)
  if (found === undefined)
    throw new Error(`no story has the role ${wanted}: correct test/faults/matrix/seeds/failed.ts`)
  return found
}

/** The story in its kept form, to be added to the list. */
export function keptFrom({ cast, ...told }: Story): Omit<KeptStory, 'found'> {
  return { ...told, cast: cast.map(({ kind, name }) => `${kind}/${name}`) }
}
