/** Prints what a test counted: the figures of docs/high-availability.md come from here. */
export function report(title: string, figures: Readonly<Record<string, string | number>>): void {
  const lines = Object.entries(figures).map(([name, value]) => `  ${name}: ${value}`)
  process.stderr.write(`${[`[ha] ${title}`, ...lines].join('\n')}\n`)
}

/** Of several times in milliseconds, the least, the middle and the most, in seconds. */
export function seconds(times: readonly number[]): string {
  const [sorted, text] = [times.toSorted((a, b) => a - b), (ms: number) => (ms / 1000).toFixed(2)]
  const [least = 0, middle = 0, most = 0] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  return times.length === 1 ? `${text(least)} s` : `${text(least)} to ${text(most)} s, median ${text(middle)} s`
}
