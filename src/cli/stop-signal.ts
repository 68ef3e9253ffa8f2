/** What ends a process in order. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Exit codes by which shells and container runtimes know an end by a signal. */
const EXIT_CODES = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const

type StopSignal = keyof typeof EXIT_CODES

/** Aborted by the first of these signals; a second one of the same name ends the process at once, as Node does by itself. */
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
 * The kernel spares process 1 of a container what a signal does by default, so that a stop would be waited for in vain until
 * the runtime kills: process 1 ends itself instead. Any other process is left as it is. Returns the way to undo it.
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
