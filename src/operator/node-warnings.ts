import type { Logger } from '../util/logger.ts'

/**
 * From now on what Node and libraries warn of, deprecations included, stands in the log and no longer as plain text beside it. Returns the
 * way to undo it.
 */
export function logNodeWarnings(logger: Logger, from: NodeJS.Process = process): () => void {
  // The listener there is writes to standard error.
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
