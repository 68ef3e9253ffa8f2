import { parse } from '@marcbachmann/cel-js'
import { cut, jsonText } from '../util/printable.ts'
import type { Asked, Edge, Finding, TrafficRule } from './world.ts'

/** The most characters of a rule's name that are shown. */
const LONGEST_NAME = 100

/** What a traffic policy knows of a connection. */
type Facts = Pick<Edge, 'protocol' | 'host' | 'port'> & Pick<Asked, 'source' | 'sourcePort'>

/** Whether a rule applies; `error`: an expression cannot be evaluated, and none is false. */
type Applies = boolean | 'error' | 'unknown'

/**
 * The rules in order; one applies if all of its expressions are true. Only `deny` decides: an expression that cannot be
 * evaluated counts as true there (`api-decisions.md § Traffic in the emulator`).
 */
export function judgeTrafficRules(rules: NonNullable<Edge['trafficRules']>, facts: Facts): Finding {
  if ('unknown' in rules) return { outcome: 'unknown', text: rules.unknown }
  const details: string[] = []
  let unknown: string | undefined
  for (const [index, rule] of rules.entries()) {
    const name = rule.name === undefined || rule.name === '' ? `number ${index + 1}` : rule.name
    const shown = `the traffic rule ${jsonText(cut(name, LONGEST_NAME))}`
    const applies = appliesTo(rule, facts)
    const denies = rule.actions.includes('deny')
    if (denies && applies !== false && applies !== 'unknown') {
      const text =
        applies === 'error'
          ? `${shown} has an expression that cannot be evaluated, and denies it`
          : `${shown} denies it`
      return { outcome: 'refuses', text, rule: name, details }
    }
    if (denies && applies === 'unknown') unknown ??= `${shown} denies some source ports`
    const others = rule.actions.filter((type) => type !== 'deny')
    if (applies === true && others.length > 0) {
      details.push(`${shown} matches it: ${others.map((type) => jsonText(cut(type, LONGEST_NAME))).join(', ')}`)
    }
  }
  if (unknown !== undefined) return { outcome: 'unknown', text: unknown, details }
  return { outcome: 'passes', text: 'no traffic rule denies it', details }
}

function appliesTo({ expressions }: TrafficRule, facts: Facts): Applies {
  const values = expressions.map((expression) => evaluate(expression, facts))
  if (values.includes(false)) return false
  if (values.includes('unknown')) return 'unknown'
  return values.every((value) => value === true) ? true : 'error'
}

function evaluate(expression: string, { protocol, host, port, source, sourcePort }: Facts): Applies {
  if (sourcePort === undefined && /\bclient_port\b/.test(expression)) return 'unknown'
  const conn = {
    protocol,
    client_ip: source,
    client_port: BigInt(sourcePort ?? 0),
    server_name: host,
    server_port: BigInt(port),
  }
  try {
    const value: unknown = parse(expression)({ conn })
    return typeof value === 'boolean' ? value : 'error'
  } catch {
    // Unknown names, and operations that the values do not have.
    return 'error'
  }
}
