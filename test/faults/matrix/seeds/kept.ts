import { roles } from './roles.ts'
import type { Step, Story } from './story.ts'

/** A story that failed once, kept as it was told: what a seed's number means changes whenever the drawing of stories does. */
export interface KeptStory {
  /** The number that it was drawn under; the world takes its chance from it. */
  readonly seed: number
  /** What it found. */
  readonly found: string
  /** Roles as `Kind/name`. */
  readonly cast: readonly string[]
  readonly replicas: number
  readonly isShared?: boolean
  readonly adopters?: readonly number[]
  readonly steps: readonly Step[]
}

/** @throws Error for a role that there is not any more: the story has to be told with another. */
export function storyFrom({ cast, found: _, ...told }: KeptStory): Story {
  return { ...told, cast: cast.map(roleNamed) }
}

function roleNamed(wanted: string): Story['cast'][number] {
  const found = roles.find(({ kind, name }) => `${kind}/${name}` === wanted)
  if (found === undefined)
    throw new Error(`no story has the role ${wanted}: correct test/faults/matrix/seeds/failed.ts`)
  return found
}

/** The story as it is kept, for whoever adds it. */
export function keptFrom({ cast, ...told }: Story): Omit<KeptStory, 'found'> {
  return { ...told, cast: cast.map(({ kind, name }) => `${kind}/${name}`) }
}
