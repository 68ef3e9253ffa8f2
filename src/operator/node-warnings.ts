import type { Logger } from '../util/logger.ts'

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
