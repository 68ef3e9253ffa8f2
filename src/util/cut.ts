/**
 * `value` in at most `max` UTF-16 code units, to fit into a bounded field or line. A lone surrogate is replaced: the
 * Kubernetes API server would store another character, and a status field would be written again and again.
 */
export function cut(value: string, max: number): string {
  return (value.length <= max ? value : `${value.slice(0, Math.max(0, max - 1))}…`.slice(0, max)).toWellFormed()
}
