import type { KubeError } from './kube-error.ts'
import type { ObjectKey, ResourceType } from './types.ts'

/** The beginning of what the chart's admission policy says of fields that the operator may not write. */
export const REFUSED_FIELDS = 'the operator of Culvert does not write '

/** A write that the admission policy for the operator refused. */
export interface Refusal {
  /** None: the policy refused the write for another reason, which its message has. */
  readonly fields: readonly RefusedField[]
}

export interface RefusedField {
  /** As `admissionPolicy.operator.extraFields` of the chart names it: `deployments.spec.template.spec.tolerations`. */
  readonly name: string
  /** Whether the request had a value for it. Otherwise somebody added it: usually a mutating webhook. */
  readonly isSent: boolean
}

/** A write as it was sent. */
export interface SentWrite {
  /** Plural of the type. */
  readonly resource: string
  /** An object or a merge patch, where null stands for a field that is absent. */
  readonly body: unknown
}

/** The write of a call of a client: its type, its key, and its body. */
export function sentBy([{ plural: resource }, , body]: readonly [
  ResourceType,
  ObjectKey,
  unknown,
  ...unknown[],
]): SentWrite {
  return { resource, body }
}

const BY_POLICY = /ValidatingAdmissionPolicy .* denied request: the operator of Culvert /

/** What the admission policy for the operator holds against a write; undefined if something else failed. Pure. */
export function refusalOf({ code, message }: KubeError, { resource, body }: SentWrite): Refusal | undefined {
  if (code !== 'Forbidden' || !BY_POLICY.test(message)) return undefined
  const start = message.indexOf(REFUSED_FIELDS)
  if (start < 0) return { fields: [] }
  const words = message.slice(start + REFUSED_FIELDS.length).split(', ')
  const prefix = `${resource}.`
  // Errors shorten long messages, in a name or between two.
  const paths = words
    .filter((word) => !word.includes('…'))
    .map((word) => (word.startsWith(prefix) ? word.slice(prefix.length) : word))
  return { fields: [...new Set(paths)].map((path) => ({ name: prefix + path, isSent: hasValueAt(body, path) })) }
}

/** What a person has to do about a refused write, to be appended to the server's message. Pure. */
export function remedyOf({ fields }: Refusal): string {
  if (fields.length === 0) return UPDATE_POLICY
  const names = (isSent: boolean): string => {
    return fields.flatMap((field) => (field.isSent === isSent ? [field.name] : [])).join(', ')
  }
  const [added, sent] = [names(false), names(true)]
  return [
    ...(added === ''
      ? []
      : [`a mutating webhook added ${added}: change the webhook, or list that in ${EXTRA_FIELDS} of the chart`]),
    ...(sent === ''
      ? []
      : [`Culvert itself sent ${sent}: ${UPDATE_POLICY}, or find the mutating webhook that changes that`]),
  ].join('; ')
}

/** The value of the chart that admits what mutating webhooks add. */
const EXTRA_FIELDS = 'admissionPolicy.operator.extraFields'

const UPDATE_POLICY = 'update the policy to the release of the operator (docs/install.md#the-admission-policy)'

/** Whether a value has a field other than null at a path such as `metadata.labels.example.com/team` or `a[0].b`. */
function hasValueAt(value: unknown, path: string): boolean {
  if (path === '') return value !== undefined && value !== null
  if (typeof value !== 'object' || value === null) return false
  const [, index, after] = /^\[(\d+)\](.*)$/.exec(path) ?? []
  if (index !== undefined) return Array.isArray(value) && hasValueAt(value[Number(index)], withoutDot(after ?? ''))
  // Keys of maps may contain dots themselves.
  return Object.entries(value).some(([key, field]) => {
    const rest = path.slice(key.length)
    return path.startsWith(key) && (rest === '' || /^[.[]/.test(rest)) && hasValueAt(field, withoutDot(rest))
  })
}

function withoutDot(path: string): string {
  return path.startsWith('.') ? path.slice(1) : path
}

/** Maps whose keys people choose: a metric names the map only. */
const MAPS: ReadonlySet<string> = new Set([
  'annotations',
  'binaryData',
  'data',
  'labels',
  'limits',
  'matchLabels',
  'nodeSelector',
  'requests',
  'stringData',
])

/** Longest path of a field in a label. */
const LONGEST_PATH = 200

/**
 * The field without its resource, for the label of a metric: cut at the first map, since the number of values has to be
 * bounded. Undefined for a text that cannot be a path. Pure.
 */
export function labelOf({ name }: RefusedField): string | undefined {
  const [, ...steps] = name.split('.')
  const map = steps.findIndex((step) => MAPS.has(step))
  const path = (map < 0 ? steps : steps.slice(0, map + 1)).join('.')
  return /^[a-zA-Z0-9_.[\]-]+$/.test(path) && path.length <= LONGEST_PATH ? path : undefined
}
