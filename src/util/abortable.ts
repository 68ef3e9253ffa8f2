/**
 * A promise that `start` settles by what it is given, or that rejects with the signal's reason when `signal` is aborted
 * first: then what `start` returned is called, to undo what it began. If the signal is aborted already, `start` is not
 * called.
 */
export function abortable<T>(
  signal: AbortSignal | undefined,
  start: (resolve: (value: T) => void, reject: (reason: Error) => void) => () => void,
): Promise<T> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal?.reason)
      undo()
    }
    // At once, not when the promise is awaited: from then on nothing may be undone.
    const settling =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        signal?.removeEventListener('abort', onAbort)
        settle(value)
      }
    signal?.addEventListener('abort', onAbort, { once: true })
    const undo = start(settling(resolve), settling(reject))
  })
}
