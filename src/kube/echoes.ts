import type { KubeObject } from './types.ts'

/** Texts kept at a time, for each direction; a watch is rarely this far behind. */
const KEPT = 64
/** Longer texts are not kept, in UTF-16 code units: they are rare, and would take memory. */
const LONGEST = 16_384

/**
 * A watch repeats the answer to each of our own writes to its type, letter by letter, before the answer or after it.
 * Whichever comes second stands for the object that the first was read as, and is not parsed and compared again.
 */
export class Echoes {
  /** Objects that answered a write, by their text, until a watch shows them. */
  readonly #answered = new Map<string, KubeObject>()
  /** Objects that watches have shown since a write was sent, by their text. */
  readonly #shown = new Map<string, KubeObject>()
  #writes = 0

  /** Sends a write; `send` has its answer read by `answered`. */
  async duringWrite<T>(send: () => Promise<T>): Promise<T> {
    this.#writes++
    try {
      return await send()
    } finally {
      this.#writes--
      if (this.#writes === 0) this.#shown.clear()
    }
  }

  /** The object in the answer to a write, read by `read` unless a watch has shown it. */
  answered<T extends KubeObject>(answer: string, read: () => T): T {
    const text = answer.trimEnd()
    const shown = take(this.#shown, text)
    if (shown !== undefined) return shown as T
    const object = read()
    keep(this.#answered, text, object)
    return object
  }

  /** The object in a line of a watch, if it answered a write. */
  shown(line: string): KubeObject | undefined {
    const mayBe = this.#answered.size > 0 && line.startsWith(MODIFIED)
    return mayBe ? take(this.#answered, objectText(line)) : undefined
  }

  /** Notes how a line of a watch was read. */
  note(line: string, object: KubeObject): void {
    if (this.#writes > 0 && line.startsWith(MODIFIED)) keep(this.#shown, objectText(line), object)
  }
}

const MODIFIED = '{"type":"MODIFIED","object":'

function objectText(line: string): string {
  return line.slice(MODIFIED.length, -1)
}

function take(kept: Map<string, KubeObject>, text: string): KubeObject | undefined {
  const object = kept.get(text)
  if (object !== undefined) kept.delete(text)
  return object
}

function keep(kept: Map<string, KubeObject>, text: string, object: KubeObject): void {
  if (text.length > LONGEST) return
  kept.set(text, object)
  const [oldest = text] = kept.keys()
  if (kept.size > KEPT) kept.delete(oldest)
}
