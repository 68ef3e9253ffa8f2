import type { Rule } from './rules.ts'

/** A joint limit for the texts in several lists, where any single text may be long. */
export interface TextBudget {
  /** Lists of objects below the object with the rule. */
  readonly lists: readonly string[]
  /** List of texts in each of these objects. */
  readonly texts: string
  /** Unicode characters in all texts together. */
  readonly characters: number
}

/**
 * Rule of the object that has the lists.
 *
 * @example
 * ```ts
 * textBudget({ lists: ['inbound', 'outbound'], texts: 'expressions', characters: 65_536 })
 * ```
 */
export function textBudget(budget: TextBudget): Rule {
  const { lists, texts, characters } = budget
  return {
    rule: `${lists.map((list) => sumOf(list, texts)).join(' + ')} <= ${characters}`,
    message: `${texts} of ${lists.join(' and ')} must have at most ${characters} characters together: shorten some, or move them to another object`,
  }
}

function sumOf(list: string, texts: string): string {
  const inner = `has(item.${texts}) ? item.${texts}.map(text, size(text)).sum() : 0`
  return `(has(self.${list}) ? self.${list}.map(item, ${inner}).sum() : 0)`
}

/** The budget that such a rule sets; undefined for another rule. */
export function budgetOf({ rule }: Rule): TextBudget | undefined {
  const lists = [...rule.matchAll(/\(has\(self\.(\w+)\) \?/g)].map(([, list = '']) => list)
  const texts = /has\(item\.(\w+)\)/.exec(rule)?.[1]
  const characters = / <= (\d+)$/.exec(rule)?.[1]
  if (texts === undefined || characters === undefined) return undefined
  const budget = { lists, texts, characters: Number(characters) }
  return textBudget(budget).rule === rule ? budget : undefined
}
