/**
 * Time as the rest of the program sees it. Injected everywhere, so that tests and simulations control time. `now` is
 * wall time; `monotonic` never steps: use it to measure intervals.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. May step when the machine's clock is set. */
  now(): number
  /** Milliseconds on a clock that never steps; only differences mean something. */
  monotonic(): number
  /** Runs `callback` once after `ms` milliseconds, or soon if `ms` is 0 or less. The returned function cancels it. */
  setTimer(ms: number, callback: () => void): () => void
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (ms, callback) => {
    // setTimeout fires at once beyond 2^31-1 ms; a longer wait is cut there, and the caller checks the time again. A
    // negative time, which occurs when the process was suspended between two readings of the clock, would make Node
    // warn.
    const timer = setTimeout(callback, Math.max(0, Math.min(ms, 2 ** 31 - 1)))
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms`; rejects with a signal's reason when one is aborted first. */
export function sleep(clock: Clock, ms: number, signals?: AbortSignal | readonly AbortSignal[]): Promise<void> {
  return abortable(signals, (resolve) => clock.setTimer(ms, resolve))
}

/**
 * A promise that `start` settles by what it is given, or that rejects with the signal's reason when one of `signals` is
 * aborted first: then what `start` returned is called, to undo what it began. If a signal is aborted already, `start`
 * is not called.
 */
export function abortable<T>(
  signals: AbortSignal | readonly AbortSignal[] | undefined,
  start: (resolve: (value: T) => void, reject: (reason: Error) => void) => () => void,
): Promise<T> {
  const all = signals === undefined ? [] : [signals].flat()
  const aborted = all.find((signal) => signal.aborted)
  if (aborted !== undefined) return Promise.reject(aborted.reason)
  return new Promise((resolve, reject) => {
    const onAbort = ({ target }: Event): void => {
      stopListening()
      reject((target as AbortSignal).reason)
      undo()
    }
    const stopListening = (): void => {
      for (const signal of all) signal.removeEventListener('abort', onAbort)
    }
    // At once, not when the promise is awaited: from then on nothing may be undone.
    const settling =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        stopListening()
        settle(value)
      }
    for (const signal of all) signal.addEventListener('abort', onAbort)
    const undo = start(settling(resolve), settling(reject))
  })
}
