import { expect } from 'vitest'

export type Body = Readonly<Record<string, unknown>>
export type IdOf = (kind: string, name: string) => string

/** One edit of a spec, and its effect at the API. */
export interface Edit {
  /** Fields of the spec with their new values; undefined removes one. */
  readonly spec: Body
  /** Fields of the single PATCH; none: no request at all. `another object`: a new object replaces this one. */
  readonly sends: readonly string[] | 'another object'
  /** Fields of the object that differ afterwards; the others stay. */
  readonly object?: (id: IdOf) => Body
  /** The rules that a policy has afterwards, if they differ: range, action, description and metadata. */
  readonly rules?: readonly Body[]
}

/** Edits of one CR, each on top of the previous one. */
export interface EditStory {
  readonly kind: string
  /** What is special about the CR; also its name. */
  readonly title: string
  readonly base: Body
  readonly edits: readonly Edit[]
}

/** A change made by one PATCH of that field. */
export function patch(field: string, spec: Body, object: Body | ((id: IdOf) => Body)): Edit {
  return { spec, sends: [field], object: given(object) }
}

export function given(object: Body | ((id: IdOf) => Body)): (id: IdOf) => Body {
  return typeof object === 'function' ? (object as (id: IdOf) => Body) : () => object
}

/** Changes that send nothing to the API. */
export function quiet(...specs: readonly Body[]): readonly Edit[] {
  return specs.map((spec) => ({ spec, sends: [] }))
}

export function another(spec: Body, object: Body | ((id: IdOf) => Body) = {}): Edit {
  return { spec, sends: 'another object', object: given(object) }
}

export const mark = expect.stringMatching(/^\{"culvert":\{[^{}]*\}\}$/)
/** The same with keys of the spec beside it. */
export const markBeside = (keys: string) => expect.stringMatching(new RegExp(`^\\{"culvert":\\{[^{}]*\\},${keys}\\}$`))

export const texts: readonly Edit[] = [
  patch('description', { description: 'first' }, { description: 'first' }),
  patch('description', { description: 'second é' }, { description: 'second é' }),
  patch('description', { description: undefined }, { description: '' }),
  patch('metadata', { metadata: { team: 'shop' } }, { metadata: markBeside('"team":"shop"') }),
  patch('metadata', { metadata: { team: 'net', a: '' } }, { metadata: markBeside('"a":"","team":"net"') }),
  patch('metadata', { metadata: undefined, rawMetadata: 'mine' }, { metadata: 'mine' }),
  patch('metadata', { rawMetadata: '{"mine":2}' }, { metadata: '{"mine":2}' }),
  patch('metadata', { rawMetadata: undefined }, { metadata: mark }),
]

/** A list in any order. */
export const sets = (values: readonly unknown[]) => expect.arrayContaining([...values])

/** Server-side apply turns an object whose fields are all removed into null (kubernetes/kubernetes#135841). */
export const notEmpty = { deletionPolicy: 'Delete' }

/** Names of output objects are unique to the story. */
export function story(kind: string, title: string, base: Body, edits: readonly Edit[]): EditStory {
  const own = edits.map((edit) => ({ ...edit, spec: withPlaces(edit.spec, title) }))
  return { kind, title, base, edits: own }
}

function withPlaces(spec: Body, title: string): Body {
  const named = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace('PLACE', `place-of-${title}`)
    return isBody(value) ? withPlaces(value, title) : value
  }
  return Object.fromEntries(Object.entries(spec).map(([field, value]) => [field, named(value)]))
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
