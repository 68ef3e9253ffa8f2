import type { Fields } from '../../managed/descriptor/common.ts'
import { given, listOf, objectOf, textOf, textsOf } from '../building-blocks/remote.ts'
import type { EdgeSpec } from './edge-schema.ts'

type TrafficPolicy = NonNullable<EdgeSpec['trafficPolicy']>
type Rule = NonNullable<TrafficPolicy['inbound']>[number]

/** The traffic policy to send: rules and actions as lists (`api-decisions.md § Values`). */
export function sentPolicy({ inbound = [], outbound = [] }: TrafficPolicy): Fields {
  return { enabled: true, inbound: inbound.map(sentRule), outbound: outbound.map(sentRule) }
}

function sentRule({ name, expressions = [], actions = [] }: Rule): Fields {
  return given({ name, expressions, actions: actions.map(({ type, config }) => given({ type, config })) })
}

/**
 * The sent policy with a single rule or action as an object, as the contract shows it (`management-api.md § Edges and
 * backends`), and without empty lists: for an API that takes lists of several alone, or none.
 */
export function policyOfObjects({ inbound, outbound, ...others }: Fields): Fields {
  return { ...others, ...given({ inbound: single(inbound), outbound: single(outbound) }) }
}

function single(rules: unknown): unknown {
  return objectUnlessSeveral(
    listOf(rules).map((rule) => {
      const { actions, ...others } = objectOf(rule) ?? {}
      return { ...others, ...given({ actions: objectUnlessSeveral(listOf(actions)) }) }
    }),
  )
}

function objectUnlessSeveral(list: readonly unknown[]): unknown {
  return list.length > 1 ? list : list[0]
}

/** A traffic policy as returned, in the form in which it is sent: absent members are left out. */
export function heldPolicy({ inbound, outbound }: Fields): Fields {
  return { inbound: listOf(inbound).map(heldRule), outbound: listOf(outbound).map(heldRule) }
}

function heldRule(value: unknown): Fields {
  const { name, expressions, actions } = objectOf(value) ?? {}
  const held = listOf(actions).map((action) => {
    const { type, config } = objectOf(action) ?? {}
    return given({ type: textOf(type), config: objectOf(config) })
  })
  return given({ name: textOf(name), expressions: textsOf(expressions), actions: held })
}

/**
 * A traffic policy, sent or returned, in a comparable form: a single rule or action is a list of one, and absent, null
 * and empty are the same.
 */
export function comparablePolicy(policy: Fields): Fields {
  const rules = (direction: unknown): readonly Fields[] => listOf(direction).map((rule) => comparableRule(rule))
  return { enabled: policy.enabled, inbound: rules(policy.inbound), outbound: rules(policy.outbound) }
}

function comparableRule(value: unknown): Fields {
  const rule = objectOf(value) ?? {}
  return {
    name: textOf(rule.name) ?? null,
    expressions: textsOf(rule.expressions),
    actions: listOf(rule.actions).map((action) => {
      const { type, config } = objectOf(action) ?? {}
      return { type: textOf(type) ?? '', config: objectOf(config) ?? {} }
    }),
  }
}
