/** A text that stands once in its file, and what takes its place. */
export type Edit = readonly [find: string, replacement: string]

/** The operator with one rule of its protocol broken. */
export interface Mutant {
  /** What it does wrong, in the words of the field; unique. */
  readonly title: string
  /** The file from the root of the repository. */
  readonly file: string
  readonly edits: readonly Edit[]
  /** Where it is most likely to be seen, which is tried first. Default: everywhere. */
  readonly first?: Aim
  /** Every suite that ends at rest has to see it, and not one of them. */
  readonly isForAll?: true
}

/** Some cases of a suite of the matrix. */
export interface Aim {
  /** File in `test/faults/matrix` without `.test.ts`. */
  readonly suite: string
  /** Expression for the episodes and cases that are tried. */
  readonly cases: string
  /** Whether all of these are tried, as where the whole matrix is run. Default: those of a short run. */
  readonly isWhole?: boolean
}

/**
 * The source with the mutant's edits.
 * @throws Error for an edit whose text does not stand there exactly once: the source has changed, and the mutant has to follow it.
 */
export function mutated(source: string, { title, file, edits }: Mutant): string {
  let text = source
  for (const [find, replacement] of edits) {
    const parts = text.split(find)
    if (parts.length !== 2) {
      throw new Error(`mutant "${title}": its text stands ${parts.length - 1} times in ${file}, not once: ${find}`)
    }
    text = parts.join(replacement)
  }
  if (text === source) throw new Error(`mutant "${title}" changes nothing in ${file}`)
  return text
}

/** A mutant of one edit. */
export function mutant(title: string, file: string, edit: Edit, first?: Aim): Mutant {
  return { title, file, edits: [edit], ...(first === undefined ? {} : { first }) }
}
