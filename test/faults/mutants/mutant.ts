/** A text that occurs exactly once in its file, and its replacement. */
export type Edit = readonly [find: string, replacement: string]

/** The operator with one rule of its protocol broken. */
export interface Mutant {
  /** The defect in the field's terms; unique. */
  readonly title: string
  /** Path from the root of the repository. */
  readonly file: string
  readonly edits: readonly Edit[]
  /** Where it is most likely to be detected, which is tried first. Default: everywhere. */
  readonly first?: Aim
  /** Every suite that ends at rest must detect it, rather than just one of them. */
  readonly isForAll?: true
}

/** Some cases of a suite of the matrix. */
export interface Aim {
  /** File in `test/faults/matrix` without `.test.ts`. */
  readonly suite: string
  /** Pattern for the episodes and cases to try. */
  readonly cases: string
  /** Whether to try all of these, as in a run of the whole matrix. Default: those of a short run. */
  readonly isWhole?: boolean
}

/**
 * The source with the mutant's edits.
 * @throws Error for an edit whose text does not occur exactly once: the source has changed, and the mutant must follow
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

/** A mutant with one edit. */
export function mutant(title: string, file: string, edit: Edit, first?: Aim): Mutant {
  return { title, file, edits: [edit], ...(first === undefined ? {} : { first }) }
}
