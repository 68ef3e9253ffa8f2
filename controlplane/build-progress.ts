/** Called with each step of a start, in words for people. */
export type OnProgress = (message: string) => void

/** Milliseconds as `45 s` or `3 min 20 s`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/**
 * Follows `go build -v`, which prints `go: downloading …` for each module that it downloads and the name of each
 * package that it compiles, and nothing for those in its cache.
 */
export class BuildProgress {
  readonly #packages: number | undefined
  #partialLine = ''
  #downloaded = 0
  #compiled = 0
  #lastLines: string[] = []

  /** @param packages how many packages the program consists of, if known */
  constructor(packages?: number) {
    this.#packages = packages
  }

  /** Takes a piece of the build's standard error. */
  read(chunk: string): void {
    const lines = (this.#partialLine + chunk).split('\n')
    this.#partialLine = lines.pop() ?? ''
    for (const line of lines) this.#readLine(line)
  }

  #readLine(line: string): void {
    if (line.startsWith('go: downloading ')) this.#downloaded += 1
    else if (/^[\w.~/-]+$/.test(line)) this.#compiled += 1
    else if (line.trim() !== '') this.#lastLines = [...this.#lastLines.slice(-39), line]
  }

  /** The progress so far, such as `compiled 1204 of at most 2712 packages`. */
  summary(): string {
    if (this.#compiled === 0 && this.#downloaded > 0) return `fetched ${this.#downloaded} modules`
    const total = this.#packages === undefined ? '' : ` of at most ${this.#packages}`
    return `compiled ${this.#compiled}${total} packages`
  }

  /** The build's output except progress: its errors, up to 40 lines. */
  complaints(): string {
    return [...this.#lastLines, this.#partialLine].join('\n').trim()
  }
}
