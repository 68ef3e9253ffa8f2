/** Signals that stop a process gracefully. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Exit codes by which shells and container runtimes recognise the end by a signal. */
const EXIT_CODES = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const

type StopSignal = keyof typeof EXIT_CODES

/**
 * Aborted by the first of these signals; a second one of the same name ends the process at once, as Node does by
 * default.
 */
export function stopSignal(signals: readonly StopSignal[] = STOP_SIGNALS): AbortSignal {
  const controller = new AbortController()
  for (const signal of signals) {
    process.once(signal, () => {
      controller.abort()
      endAtOnceAsFirstProcess([signal])
    })
  }
  return controller.signal
}

/**
 * The kernel does not apply a signal's default action to process 1 of a container, so that a stop would wait until the
 * runtime kills it. Process 1 therefore exits by itself; any other process is left as it is. Returns the function to
 * undo this.
 */
export function endAtOnceAsFirstProcess(signals: readonly StopSignal[] = STOP_SIGNALS, pid = process.pid): () => void {
  if (pid !== 1) return () => {}
  const undo = signals.map((signal) => {
    const end = (): never => process.exit(EXIT_CODES[signal])
    process.once(signal, end)
    return () => process.off(signal, end)
  })
  return () => {
    for (const each of undo) each()
  }
}
