import { domainToASCII } from 'node:url'
import type { ErrorObject } from 'ajv'
import { isObject } from '../util/json.ts'

const longestValue = 80

/** One sentence about the problem at `path`, in the style of the apiserver's messages. */
export function describeProblem(error: ErrorObject, path: string): string {
  return `${path || 'the value'} ${complaint(error)}`
}

function complaint(error: ErrorObject): string {
  const { limit } = error.params
  switch (error.keyword) {
    case 'required':
      return 'is missing'
    case 'additionalProperties':
      return `has the unknown field ${JSON.stringify(error.params.additionalProperty)}`
    case 'type':
      return `must be ${article(String(error.params.type))}, is ${shown(error)}`
    case 'enum':
      return `must be one of ${(error.params.allowedValues as unknown[]).join(', ')}, is ${shown(error)}`
    case 'pattern':
      return `must ${expectation(error)}, is ${shown(error)}`
    case 'format':
      return `must be ${formatName(String(error.params.format))}, is ${shown(error)}`
    case 'minLength':
      return `must have at least ${limit} characters, is ${shown(error)}`
    case 'maxLength':
      return `must have at most ${limit} characters, has ${[...String(error.data)].length}`
    case 'minItems':
      return `must have at least ${limit} items, has ${sizeOf(error.data)}`
    case 'maxItems':
      return `must have at most ${limit} items, has ${sizeOf(error.data)}`
    case 'minProperties':
      return `must have at least ${limit} entries, has ${sizeOf(error.data)}`
    case 'maxProperties':
      return `must have at most ${limit} entries, has ${sizeOf(error.data)}`
    case 'minimum':
      return `must be at least ${limit}, is ${shown(error)}`
    case 'maximum':
      return `must be at most ${limit}, is ${shown(error)}`
    default:
      return `${error.message ?? 'is refused'}, is ${shown(error)}`
  }
}

/** What a text had to match; a domain with other letters is shown in the form in which it would. */
function expectation({ params, parentSchema, data }: ErrorObject): string {
  if (!isObject(parentSchema) || parentSchema.mustBe === undefined) return `match ${params.pattern}`
  const ascii = domainToASCII(String(data))
  const matches = ascii !== '' && ascii !== data && new RegExp(String(params.pattern), 'u').test(ascii)
  return `be ${parentSchema.mustBe}${matches ? `; write it as ${ascii}` : ''}`
}

/** The value, shortened; for secrets, lists and objects only their type. */
function shown(error: ErrorObject): string {
  const { data, parentSchema } = error
  if (isObject(parentSchema) && parentSchema.format === 'password') {
    return 'something else (not shown: secret)'
  }
  if (Array.isArray(data)) {
    return 'a list'
  }
  if (isObject(data)) {
    return 'an object'
  }
  const text = String(JSON.stringify(data))
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
}

function sizeOf(data: unknown): number {
  return Array.isArray(data) ? data.length : Object.keys(data ?? {}).length
}

function article(type: string): string {
  return type === 'array' ? 'a list' : /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}

function formatName(format: string): string {
  switch (format) {
    case 'date-time':
      return 'an RFC 3339 time (2026-01-31T12:00:00Z)'
    case 'int32':
      return 'a whole number of 32 bits'
    case 'int64':
      return 'a whole number of at most 53 bits'
    default:
      return `of the format ${format}`
  }
}
