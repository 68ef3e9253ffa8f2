import { isDeepStrictEqual } from 'node:util'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { type Incompatibility, incompatibility } from './incompatibility.ts'
import { conditionsOf, type Term } from './simplified-rule.ts'

/**
 * Rules of a later schema that can reject what an earlier one accepted. Rules that concern only new fields and new
 * values do not count: `atMostOne` of an old field and a new one, or `exactlyOne` with a further member.
 */
export function newRules(earlier: SchemaNode, later: SchemaNode, path: string): readonly Incompatibility[] {
  const known = rulesOf(earlier).flatMap((rule) => conditionsOf(rule, earlier))
  const isKnown = (condition: Term): boolean => known.some((each) => isDeepStrictEqual(each, condition))
  return rulesOf(later)
    .filter((rule) => !conditionsOf(rule, earlier).every(isKnown))
    .flatMap((rule) => incompatibility(path, isTransition(rule) ? 'changed' : 'tightened', `the rule ${rule} is new`))
}

function rulesOf(node: SchemaNode): readonly string[] {
  return (node['x-kubernetes-validations'] ?? []).map(({ rule }) => rule)
}

/** A transition rule exempts no stored value. */
function isTransition(rule: string): boolean {
  return /\boldSelf\b/.test(rule)
}
