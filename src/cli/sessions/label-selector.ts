import type { LabelSelector } from '../../managed/descriptor/label-selector.ts'
import { CommandError } from '../cluster/command-error.ts'

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

/** Commas between requirements, not those within a set. */
const BETWEEN = /,(?![^(]*\))/
const KEY = '([A-Za-z0-9][-A-Za-z0-9_./]*)'
const VALUE = '([-A-Za-z0-9_.]*)'
const EQUAL = new RegExp(`^${KEY}\\s*==?\\s*${VALUE}$`)
const UNEQUAL = new RegExp(`^${KEY}\\s*!=\\s*${VALUE}$`)
const SET = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`)
const PRESENT = new RegExp(`^(!?)\\s*${KEY}$`)

/**
 * A label selector as kubectl's `-l` takes it: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a` and `!a`,
 * separated by commas; all must be met.
 *
 * @throws CommandError `BadArgument` naming the part that is none of these
 */
export function parseLabelSelector(text: string): LabelSelector {
  return { matchExpressions: text.split(BETWEEN).map((part) => expressionOf(part.trim(), text)) }
}

function expressionOf(part: string, whole: string): Expression {
  const [, equalKey, equalValue] = EQUAL.exec(part) ?? []
  if (equalKey !== undefined) return { key: equalKey, operator: 'In', values: [equalValue ?? ''] }
  const [, unequalKey, unequalValue] = UNEQUAL.exec(part) ?? []
  if (unequalKey !== undefined) return { key: unequalKey, operator: 'NotIn', values: [unequalValue ?? ''] }
  const [, setKey, word, values = ''] = SET.exec(part) ?? []
  if (setKey !== undefined) {
    const operator = word === 'in' ? 'In' : 'NotIn'
    return { key: setKey, operator, values: values.split(',').map((value) => value.trim()) }
  }
  const [, not, presentKey] = PRESENT.exec(part) ?? []
  if (presentKey !== undefined) return { key: presentKey, operator: not === '!' ? 'DoesNotExist' : 'Exists' }
  throw new CommandError(
    'BadArgument',
    `${JSON.stringify(part)} in the selector ${JSON.stringify(whole)} is no requirement: write KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY`,
  )
}
