/** How many texts are shared at most. */
const MOST = 1000
/** A longer text says something about one object only. */
const LONGEST = 256

/** One copy of each text that many objects have in common, such as the messages of their conditions. */
export class SharedTexts {
  readonly #copies = new Map<string, string>()

  /** An equal text; the same one for all that ask while it is shared. */
  of(text: string): string {
    if (text.length > LONGEST) return text
    const shared = this.#copies.get(text)
    if (shared !== undefined) return shared
    // Texts that are no longer in use go with all others: those in use are soon shared again.
    if (this.#copies.size >= MOST) this.#copies.clear()
    this.#copies.set(text, text)
    return text
  }
}
