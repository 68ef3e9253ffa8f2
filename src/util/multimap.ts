/** One or more texts for each key. Most keys have one, which takes a tenth of the memory of a `Set`. */
export class Multimap {
  readonly #texts = new Map<string, string | Set<string>>()

  /** The texts of the key, in the order in which they were added. */
  get(key: string): Iterable<string> {
    const texts = this.#texts.get(key)
    return typeof texts === 'string' ? [texts] : (texts ?? NONE)
  }

  add(key: string, text: string): void {
    const texts = this.#texts.get(key)
    if (texts === undefined || texts === text) this.#texts.set(key, text)
    else if (typeof texts === 'string') this.#texts.set(key, new Set([texts, text]))
    else texts.add(text)
  }

  delete(key: string, text: string): void {
    const texts = this.#texts.get(key)
    if (texts === text) this.#texts.delete(key)
    if (!(texts instanceof Set)) return
    texts.delete(text)
    if (texts.size === 0) this.#texts.delete(key)
  }
}

const NONE: readonly never[] = []
