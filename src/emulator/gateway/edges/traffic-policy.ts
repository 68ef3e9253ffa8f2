import { parse } from '@marcbachmann/cel-js'
import { isJsonObject, type Json, type JsonObject, textsOf } from '../../values/json.ts'
import type { Protocol } from './edge-table.ts'

/** What expressions know of a connection, under the name `conn`. */
export interface ConnectionFacts {
  readonly protocol: Protocol
  readonly source: string
  readonly sourcePort: number
  readonly host: string
  readonly port: number
}

/** What a policy says of a connection. */
export interface PolicyOutcome {
  /** Why it is denied; undefined if it is not. */
  readonly denial: string | undefined
  /** What the policy logs, and what of it has no effect. */
  readonly notes: readonly string[]
}

/** The most notes of one connection, and characters of a name in them: they are kept in memory. */
const MOST_NOTES = 10
const LONGEST_NAME = 100

/**
 * Applies the module `policy` of an edge (`management-api.md § Edges and backends`): the rules in order, inbound before
 * outbound; a rule applies if all of its expressions are true. `deny` ends the connection, `log` notes it, and other
 * actions are noted without effect. An expression that cannot be evaluated is false, but true for a rule that denies:
 * a policy never admits by mistake. Pure.
 */
export function applyPolicy(policy: JsonObject, facts: ConnectionFacts): PolicyOutcome {
  const notes: string[] = []
  for (const [index, rule] of [policy.inbound, policy.outbound].flatMap(listOf).entries()) {
    const name = typeof rule.name === 'string' && rule.name !== '' ? rule.name : `number ${index + 1}`
    const shown = `the policy rule ${JSON.stringify(name.slice(0, LONGEST_NAME))}`
    const types = listOf(rule.actions).map(({ type }) => String(type).slice(0, LONGEST_NAME))
    const applies = appliesTo(textsOf(rule.expressions), facts)
    const isDoubtful = applies === undefined
    if (isDoubtful) notes.push(`${shown} has an expression that cannot be evaluated`)
    if (applies !== true && !(isDoubtful && types.includes('deny'))) continue
    for (const type of types) {
      if (type === 'deny') return { denial: `${shown} denies it`, notes: notes.slice(0, MOST_NOTES) }
      notes.push(type === 'log' ? `${shown} logs it` : `${shown} has the action ${type}, which has no effect here`)
    }
  }
  return { denial: undefined, notes: notes.slice(0, MOST_NOTES) }
}

/** Undefined if one of the expressions cannot be evaluated, and none of the others is false. */
function appliesTo(expressions: readonly string[], facts: ConnectionFacts): boolean | undefined {
  const values = expressions.map((expression) => evaluate(expression, facts))
  if (values.includes(false)) return false
  return values.every((value) => value === true) ? true : undefined
}

function evaluate(expression: string, { protocol, source, sourcePort, host, port }: ConnectionFacts): unknown {
  const conn = {
    protocol,
    client_ip: source,
    client_port: BigInt(sourcePort),
    server_name: host,
    server_port: BigInt(port),
  }
  try {
    return parse(expression)({ conn })
  } catch {
    // Unknown names, and operations that the values do not have.
    return undefined
  }
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return [value ?? []].flat().filter(isJsonObject)
}
