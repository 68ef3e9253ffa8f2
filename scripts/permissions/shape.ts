import { list, text } from './cel-literals.ts'

/**
 * What a value that the operator writes may be. A field that no shape lists may not differ from what is stored; see
 * `problemsOf`.
 */
export type Shape = ValueShape | ObjectShape | MapShape | ListShape

/** Whether a value may be written, as CEL about `value`, an expression that denotes it. */
export interface ValueShape {
  readonly type: 'value'
  readonly holds: (value: string) => string
}

/** An object with these fields and no others. */
export interface ObjectShape {
  readonly type: 'object'
  readonly fields: Readonly<Record<string, Field>>
}

/** A map, such as labels: which entries may be written, as CEL about key and value. */
export interface MapShape {
  readonly type: 'map'
  readonly holds: (key: string, value: string) => string
}

/** A list with a number of items of one shape. */
export interface ListShape {
  readonly type: 'list'
  readonly items: Shape
  readonly least: number
  readonly most: number
}

export type Field = Shape & {
  /** Whether it must be there, unless it is not stored either. Default: false. */
  readonly isRequired?: boolean
  /** Whether all of it must be as described, also where it is as stored. Default: false. */
  readonly isWhole?: boolean
  /** Whether the API server sets it, and the operator never sends it. Default: false. */
  readonly isFromServer?: boolean
}

/** Any value: what it may be is decided elsewhere, such as by the schema of a CRD. */
export const anything: ValueShape = { type: 'value', holds: () => 'true' }

/** A value for which the expression holds. */
export function value(holds: (value: string) => string): ValueShape {
  return { type: 'value', holds }
}

/** The one value that a CEL expression denotes. */
export function exactly(expression: string): ValueShape {
  return value((each) => `${each} == ${expression}`)
}

/** One of these texts. */
export function oneOf(...texts: readonly string[]): ValueShape {
  const [only] = texts
  return texts.length === 1 && only !== undefined ? exactly(text(only)) : value((each) => `${each} in ${list(texts)}`)
}

/** A text that the whole regular expression matches. */
export function matching(pattern: string): ValueShape {
  return value((each) => `${each}.matches(${text(`^(${pattern})$`)})`)
}

/** A whole number from `least` to `most`. */
export function between(least: number, most: number): ValueShape {
  return value((each) => `${each} >= ${least} && ${each} <= ${most}`)
}

export function object(fields: Readonly<Record<string, Field>>): ObjectShape {
  return { type: 'object', fields }
}

export function map(holds: MapShape['holds']): MapShape {
  return { type: 'map', holds }
}

export function listOf(items: Shape, { least = 0, most = 1_000 } = {}): ListShape {
  return { type: 'list', items, least, most }
}

export function required(shape: Field): Field {
  return { ...shape, isRequired: true }
}

/** The paths that mutating webhooks may change, which every shape admits. */
const EXTRA = 'variables.allowedExtras'

/** What the API server fills in. */
export function fromServer(shape: Field): Field {
  return { ...shape, isFromServer: true }
}

/** Paths of the values that the operator sends, with `*` for any item and any key. */
export function sentPaths(shape: Shape): readonly string[] {
  switch (shape.type) {
    case 'value':
      return ['']
    case 'map':
      return ['.*']
    case 'list':
      return sentPaths(shape.items).map((path) => `.*${path}`)
    case 'object':
      return Object.entries(shape.fields).flatMap(([name, { isFromServer, isRequired: _, isWhole: __, ...field }]) => {
        return isFromServer ? [] : sentPaths(field as Shape).map((path) => `.${name}${path}`)
      })
  }
}

/** Where a shape is applied. */
export interface Place {
  /** CEL that denotes the value, which is an error where it is missing. */
  readonly at: string
  /** CEL that denotes the value as an optional. */
  readonly found: string
  /**
   * CEL that denotes the stored value as an optional. What equals it may stay, whatever the shape says. Undefined: the
   * shape holds for all of the value.
   */
  readonly former: string | undefined
  /** Path of the value below the object, for people; empty for the object itself, and in the items of a list. */
  readonly path: string
}

/** The object of a request, and the one that is stored. */
const WHOLE: Place = {
  at: 'object',
  found: 'optional.of(object)',
  former: 'optional.of(variables.former)',
  path: '',
}

/**
 * A CEL expression for the list of paths at which the object of a request differs from its shape, without those at
 * which it is as it is stored. A check yields one text, since CEL has no cheap way to join lists.
 */
export function problemsOf(shape: ObjectShape): string {
  return `[${checksOf(shape, WHOLE).join(', ')}].filter(problem, problem != '')`
}

/** CEL expressions, each for one or more paths or an empty text. */
function checksOf(shape: Shape, place: Place): readonly string[] {
  switch (shape.type) {
    case 'value': {
      const holds = shape.holds(place.at)
      return holds === 'true' ? [] : [check(holds, place)]
    }
    case 'list':
      return listChecks(shape, place)
    case 'map':
      return keyChecks(place, 'values', (of) => `!(${shape.holds('key', `${of}[key]`)})`)
    case 'object': {
      const { at, found, former, path } = place
      const isRoot = place === WHOLE
      return [
        ...keyChecks(place, 'names', () => `!(key in ${list(Object.keys(shape.fields))})`),
        ...Object.entries(shape.fields).flatMap(([name, field]) => {
          const optional = /^[a-zA-Z_]\w*$/.test(name) && !UNSELECTABLE.has(name) ? `.?${name}` : `[?${text(name)}]`
          const select = optional.replace('?', '')
          return fieldChecks(field, {
            at: `${at}${select}`,
            found: `${isRoot ? at : found}${optional}`,
            former: former && `${isRoot ? 'variables.former' : former}${optional}`,
            path: path === '' ? name : `${path}.${name}`,
            parent: isRoot ? undefined : found,
          })
        }),
      ]
    }
  }
}

/** Names that CEL cannot select by a dot. */
const UNSELECTABLE: ReadonlySet<string> = new Set([
  'namespace',
  'package',
  'import',
  'in',
  'as',
  'loop',
  'for',
  'if',
  'var',
])

function fieldChecks(
  { isRequired = false, isWhole = false, isFromServer: _, ...shape }: Field,
  { parent, ...place }: Place & { readonly parent: string | undefined },
): readonly string[] {
  const { found, path } = place
  const former = isWhole ? undefined : place.former
  const checks = checksOf(shape as Shape, { ...place, former })
  if (!isRequired) return checks
  const isAbsent = former === undefined ? '' : ` || (oldObject != null && !${former}.hasValue())`
  const isLoose = parent === undefined ? '' : `!${parent}.hasValue() || `
  return [`${isLoose}${found}.hasValue()${isAbsent} ? '' : ${text(path)}`, ...checks]
}

function listChecks({ items, least, most }: ListShape, place: Place): readonly string[] {
  const { at, found, path } = place
  if (least === 1 && most === 1) {
    const former = place.former && `${place.former}[?0]`
    const item = { at: `${at}[0]`, found: `${found}[?0]`, former, path: `${path}[0]` }
    return [check(`${at}.size() == 1`, place), ...checksOf(items, item)]
  }
  const item = `item${at.split('.').length}`
  const inner = checksOf(items, { at: item, found: `optional.of(${item})`, former: undefined, path: '' })
  const each = items.type === 'value' ? [items.holds(item)] : inner.map((one) => `(${one}) == ''`)
  const limits = [...(least > 0 ? [`${at}.size() >= ${least}`] : []), `${at}.size() <= ${most}`]
  return [check([...limits, `${at}.all(${item}, ${each.join(' && ')})`].join(' && '), place)]
}

/** The path, if the value is set and invalid. */
function check(holds: string, { found, former, path }: Place): string {
  const isKept = former === undefined ? '' : ` || ${former} == ${found}`
  const isExtra = path === '' ? '' : ` || ${text(path)} in ${EXTRA}`
  return `!${found}.hasValue() || (${holds})${isKept}${isExtra} ? '' : ${text(path === '' ? 'value' : path)}`
}

/**
 * The keys of a map that may not be there or may not go, and are not as they are stored. Both maps are bound to `maps`:
 * a path to them would cost for each of thousands of annotations. `first` is the check that costs less than the other:
 * of names, or of values.
 */
function keyChecks(
  { found, former, path }: Place,
  first: 'names' | 'values',
  isOther: (of: string) => string,
): readonly string[] {
  const prefix = path === '' ? '' : `${text(`${path}.`)} + `
  const isExtra = ` && !((${prefix}key) in ${EXTRA})`
  const named = `.map(key, ${prefix}key).join(', ')`
  const maps = [found, former ?? found].map((each) => `${each}.orValue({})`).join(', ')
  const bind = (check: string): string => `[[${maps}]].map(maps, ${check}${isExtra})${named})[0]`
  if (former === undefined) return [bind(`maps[0].filter(key, ${isOther('maps[0]')}`)]
  const differs = 'maps[1][?key] != maps[0][?key]'
  const added = first === 'values' ? [differs, isOther('maps[0]')] : [isOther('maps[0]'), differs]
  return [
    bind(`maps[0].filter(key, ${added.join(' && ')}`),
    bind(`maps[1].filter(key, !(key in maps[0]) && ${isOther('maps[1]')}`),
  ]
}
