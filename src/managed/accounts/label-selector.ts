import { ownField } from '../../util/json.ts'
import type { LabelSelector } from '../descriptor/label-selector.ts'

type Labels = Readonly<Record<string, string>>
type Requirement = NonNullable<LabelSelector['matchExpressions']>[number]

/**
 * Whether `selector` selects an object with `labels`, as in Kubernetes: an absent selector selects nothing, an empty
 * one everything.
 */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    Object.entries(matchLabels).every(([key, value]) => ownField(labels, key) === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels))
  )
}

function meets({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = ownField(labels, key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
  }
}
