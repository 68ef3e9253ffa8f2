import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { type Incompatibility, incompatibility } from './incompatibility.ts'

const most = ['maxLength', 'maxItems', 'maxProperties', 'maximum'] as const
const least = ['minLength', 'minItems', 'minProperties', 'minimum'] as const

/** Values that an earlier schema accepted and a later one rejects, by the keywords that limit a value. */
export function tightenedLimits(earlier: SchemaNode, later: SchemaNode, path: string): readonly Incompatibility[] {
  const said = [...bounds(earlier, later), ...words(earlier, later), ...forms(earlier, later)]
  return said.flatMap((what) => incompatibility(path, 'tightened', what))
}

function bounds(earlier: SchemaNode, later: SchemaNode): readonly string[] {
  const uppers = most.filter((keyword) => (later[keyword] ?? Infinity) < (earlier[keyword] ?? Infinity))
  const lowers = least.filter((keyword) => {
    const none = keyword === 'minimum' ? -Infinity : 0
    return (later[keyword] ?? none) > (earlier[keyword] ?? none)
  })
  return [...uppers, ...lowers].map(
    (keyword) => `${keyword} went from ${earlier[keyword] ?? 'none'} to ${later[keyword]}`,
  )
}

function words(earlier: SchemaNode, later: SchemaNode): readonly string[] {
  if (later.enum === undefined) return []
  if (earlier.enum === undefined) return ['became an enum']
  const gone = earlier.enum.filter((value) => !later.enum?.includes(value))
  return gone.map((value) => `the value ${JSON.stringify(value)} of the enum is gone`)
}

function forms(earlier: SchemaNode, later: SchemaNode): readonly string[] {
  const { pattern, format, multipleOf } = later
  const widened = earlier.format === 'int32' && format === 'int64'
  const divides = multipleOf !== undefined && (earlier.multipleOf ?? Number.NaN) % multipleOf === 0
  return [
    pattern === undefined || pattern === earlier.pattern ? '' : `the pattern ${pattern} is new`,
    format === undefined || format === earlier.format || widened ? '' : `the format ${format} is new`,
    multipleOf === undefined || divides ? '' : `multipleOf ${multipleOf} is new`,
    earlier.nullable === true && later.nullable !== true ? 'null is refused' : '',
  ].filter(Boolean)
}
