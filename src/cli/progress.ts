import type { Terminal } from './terminal/terminal.ts'

/** Progress of a command, on standard error. */
export interface Progress {
  report(text: string): void
  /** Removes what stands on the terminal. */
  end(): void
}

/** Nothing is reported for a command that ends sooner, in milliseconds. */
const QUIET_MS = 1_000
/** Without a terminal, a line is printed this often. */
const LINE_MS = 5_000

/** On a terminal, one line that changes; elsewhere, a line now and then. */
export function showProgress(
  { height, print, redraw }: Terminal,
  now: () => number = () => performance.now(),
): Progress {
  const began = now()
  let reportedAt = began
  let isShown = false
  return {
    report: (text) => {
      const time = now()
      if (time - began < QUIET_MS) return
      if (height > 0) {
        redraw([text])
        isShown = true
      } else if (time - reportedAt >= LINE_MS) {
        print(text)
        reportedAt = time
      }
    },
    end: () => {
      if (isShown) redraw([])
      isShown = false
    },
  }
}
