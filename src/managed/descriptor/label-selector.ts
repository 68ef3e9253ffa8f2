import { type Static, Type } from 'typebox'
import { choice, list, object, stringMap, text } from '../../schema/define.ts'
import { keysLimit, mapLimit } from '../../schema/rules.ts'
import { ownField } from '../../util/json.ts'

const VALUE = 63
const VALUE_PATTERN = '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'
const KEY_PATTERN = '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'
const VALUE_WORDS = 'empty or a label value of letters, digits, -, _ and . that begins and ends with a letter or digit'
const KEY_WORDS = 'the key of a label, such as team or example.com/team'

const matchExpression = object(
  {
    key: text({ description: 'Label key.', minLength: 1, maxLength: 317, pattern: KEY_PATTERN, mustBe: KEY_WORDS }),
    operator: choice(['In', 'NotIn', 'Exists', 'DoesNotExist'], {
      description: 'How the label is compared with the values.',
    }),
    values: Type.Optional(
      list(text({ description: 'A label value.', maxLength: VALUE, pattern: VALUE_PATTERN, mustBe: VALUE_WORDS }), {
        description: 'Values for In and NotIn, at most 16; none for Exists and DoesNotExist.',
        maxItems: 16,
      }),
    ),
  },
  {
    description: 'A requirement that the labels must meet.',
    rules: [
      {
        rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
        message: 'values goes with the operators In and NotIn, and only with these: add values or change operator',
      },
    ],
  },
)

/** How much a selector may hold. */
export interface SelectorSize {
  /** Labels in `matchLabels`. */
  readonly labels: number
  /** Bytes of `matchLabels` as JSON. Absent: its keys are limited one by one. */
  readonly bytes?: number
  /** Requirements in `matchExpressions`. */
  readonly expressions: number
}

const matchLabels = (most: Pick<SelectorSize, 'labels' | 'bytes'>) =>
  Type.Optional(
    stringMap(text({ description: 'Label value.', maxLength: VALUE, pattern: VALUE_PATTERN, mustBe: VALUE_WORDS }), {
      description: `Labels that must have these values, at most ${most.labels}.`,
      maxProperties: most.labels,
      rules: [most.bytes === undefined ? keysLimit(317, 'matchLabels') : mapLimit(most.bytes, 6, 'matchLabels')],
    }),
  )

/** A label selector with the same meaning as in Kubernetes. */
export const labelSelector = (description: string, most: SelectorSize = { labels: 64, expressions: 64 }) =>
  object(
    {
      matchLabels: matchLabels(most),
      matchExpressions: Type.Optional(
        list(matchExpression, {
          description: `Further requirements, at most ${most.expressions}; all must be met.`,
          maxItems: most.expressions,
        }),
      ),
    },
    { description },
  )

/** A label selector without `matchExpressions`. */
export const labelsSelector = (description: string, most: Pick<SelectorSize, 'labels' | 'bytes'>) =>
  object({ matchLabels: matchLabels(most) }, { description })

const selector = labelSelector('A selector.')

export type LabelSelector = Static<typeof selector>

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
