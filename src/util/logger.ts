import { type DestinationStream, pino } from 'pino'
import type { Clock } from './clock.ts'
import { escaped } from './printable.ts'

/** Key-value context of a log line. Values never hold secrets; the redaction below is a second line of defence. */
export type LogFields = Readonly<Record<string, unknown>>

/** Structured logger. The real one writes one JSON object per line. */
export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  child(fields: LogFields): Logger
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const SECRET_PATHS = [
  'token',
  'apiKey',
  'authorization',
  'headers.authorization',
  '*.token',
  '*.apiKey',
  '*.authorization',
]

/**
 * A pino logger that writes JSON lines to `destination` (default: standard error, which leaves standard output to
 * results).
 */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const sink = destination ?? pino.destination(2)
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    },
    { write: (line) => sink.write(escaped(line, true)) },
  )
}

/**
 * From now on, warnings of Node and libraries, including deprecations, go to the log instead of standard error as plain
 * text. Returns the function to undo this.
 */
export function logNodeWarnings(logger: Logger, from: NodeJS.Process = process): () => void {
  // The existing listener writes to standard error.
  const former = from.rawListeners('warning') as ((warning: Error) => void)[]
  const log = (warning: Error & { readonly code?: string }): void => {
    logger.warn({ code: warning.code, err: warning }, `${warning.name}: ${warning.message}`)
  }
  from.removeAllListeners('warning')
  from.on('warning', log)
  return () => {
    from.off('warning', log)
    for (const listener of former) from.on('warning', listener)
  }
}

const PAUSE_MS = 300_000

/**
 * Reports something that may happen constantly: at once the first time, then at most every five minutes, with the
 * number of times it happened.
 */
export class Rarely {
  readonly #clock: Clock
  readonly #tell: (last: unknown, times: number) => void
  #toldAt: number | undefined
  #untold = 0

  constructor(clock: Clock, tell: (last: unknown, times: number) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  happened(what: unknown): void {
    this.#untold++
    const now = this.#clock.monotonic()
    if (this.#toldAt !== undefined && now - this.#toldAt < PAUSE_MS) return
    this.#toldAt = now
    this.#tell(what, this.#untold)
    this.#untold = 0
  }
}
