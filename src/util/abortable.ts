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
