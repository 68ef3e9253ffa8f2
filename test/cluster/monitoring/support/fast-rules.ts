import type { AlertRule, RuleFile } from '../../../builders/monitoring-files.ts'

/** By how much time runs faster: what takes minutes takes seconds. */
const FACTOR = 60
const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/**
 * The rules for a world in which time runs sixty times faster, and nothing else differs: `for`, the ranges of rates,
 * and thresholds that are times are a sixtieth of what they are; metrics, labels, other thresholds and the way they are
 * put together stay.
 */
export function fastRules({ groups }: RuleFile): RuleFile {
  return { groups: groups.map(({ name, rules }) => ({ name, rules: rules.map(fastRule) })) }
}

function fastRule(rule: AlertRule): AlertRule {
  const ranged = rule.expr.replaceAll(/\[(\w+)\]/g, (_, duration: string) => `[${fast(duration)}]`)
  const expr = ranged.replace(
    /(_seconds\{[^}]*\}\)(?: - time\(\))? [<>] )(\d+)$/,
    (_, left: string, seconds: string) => {
      return `${left}${Number(seconds) / FACTOR}`
    },
  )
  return { ...rule, expr, ...(rule.for === undefined ? {} : { for: fast(rule.for) }) }
}

function fast(duration: string): string {
  return `${secondsOf(duration) / FACTOR}s`
}

/** @throws Error for what is not a number of one unit */
export function secondsOf(duration: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(duration) ?? []
  if (count === undefined) throw new Error(`${duration} is not a number of one unit`)
  return Number(count) * UNITS[unit as keyof typeof UNITS]
}
