import type { LogFields, Logger } from '../../src/util/logger.ts'

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: LogFields
  readonly message: string
}

/** A logger that prints nothing and keeps its lines for tests. Children write to the same list. */
export interface SilentLogger extends Logger {
  readonly lines: LogLine[]
}

export function createSilentLogger(lines: LogLine[] = [], context: LogFields = {}): SilentLogger {
  const write = (level: LogLine['level']) => (fields: LogFields, message: string) => {
    lines.push({ level, fields: { ...context, ...fields }, message })
  }
  return {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => createSilentLogger(lines, { ...context, ...fields }),
  }
}
