import { isDeepStrictEqual } from 'node:util'
import type { SchemaNode } from '../../../scripts/schema/schema-node.ts'
import { type Incompatibility, incompatibility } from './incompatibility.ts'
import { conditionsOf, type Term } from './simplified-rule.ts'

/**
 * Rules of a later schema that can refuse what an earlier one took. A rule that says something of new fields and new values alone
 * is none of them: `atMostOne` of an old field and a new one, or `exactlyOne` with a further member.
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

/** Of a rule over old and new value nothing that is stored is exempt. */
function isTransition(rule: string): boolean {
  return /\boldSelf\b/.test(rule)
}
