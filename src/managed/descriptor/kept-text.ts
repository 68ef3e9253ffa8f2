/**
 * A text as it is to be sent: the one that is held where a service has only dropped the white space around it. Nothing
 * is written again for that.
 */
export function keptText(wanted: string, held: string): string {
  return held === wanted.trim() ? held : wanted
}
