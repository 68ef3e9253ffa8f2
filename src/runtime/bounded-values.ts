/** Replaces what exceeds the bound. */
export const OTHER = 'other'

/** The values of a label of a metric whose number nothing else bounds: the first ones are kept. */
export class BoundedValues {
  readonly #most: number
  readonly #kept = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  /** The value itself, or `other` for one that comes after `most` different ones. */
  of(value: string): string {
    if (this.#kept.has(value)) return value
    if (this.#kept.size >= this.#most) return OTHER
    this.#kept.add(value)
    return value
  }
}
