import type { LabelSelector } from '../descriptor/label-selector.ts'

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

/** Commas between requirements, not those within a set. */
const BETWEEN = /,(?![^(]*\))/
const KEY = '([A-Za-z0-9][-A-Za-z0-9_./]*)'
const VALUE = '([-A-Za-z0-9_.]*)'
const EQUAL = new RegExp(`^${KEY}\\s*==?\\s*${VALUE}$`)
const UNEQUAL = new RegExp(`^${KEY}\\s*!=\\s*${VALUE}$`)
const SET = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`)
const PRESENT = new RegExp(`^(!?)\\s*${KEY}$`)

/** Why a text is no selector: the part that is wrong, and what can be written. */
export interface SelectorProblem {
  readonly problem: string
}

/**
 * A label selector as kubectl's `-l` takes it: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a` and `!a`,
 * separated by commas; all must be met.
 */
export function parseLabelSelector(text: string): LabelSelector | SelectorProblem {
  const parts = text.split(BETWEEN).map((part) => part.trim())
  const matchExpressions = parts.flatMap((part) => expressionOf(part) ?? [])
  const wrong = parts.find((part) => expressionOf(part) === undefined)
  if (wrong === undefined) return { matchExpressions }
  const whole = `${JSON.stringify(wrong)} in the selector ${JSON.stringify(text)}`
  return { problem: `${whole} is not a requirement: use ${FORMS}` }
}

const FORMS = 'KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY'

function expressionOf(part: string): Expression | undefined {
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
  if (presentKey === undefined) return undefined
  return { key: presentKey, operator: not === '!' ? 'DoesNotExist' : 'Exists' }
}
