/**
 * The text to send: the existing one if the service has only trimmed white space around it, so that nothing is written
 * for that.
 */
export function keptText(wanted: string, held: string): string {
  return held === wanted.trim() ? held : wanted
}
