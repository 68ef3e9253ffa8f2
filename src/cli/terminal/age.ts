const UNITS = [
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: 1_000 },
] as const

/** A span of time for people, in its largest unit: `45 seconds`, `2 hours`. Below a second: `a moment`. */
export function spanText(ms: number): string {
  const unit = UNITS.find((each) => ms >= each.ms)
  if (unit === undefined) return 'a moment'
  const count = Math.floor(ms / unit.ms)
  return `${count} ${unit.name}${count === 1 ? '' : 's'}`
}
