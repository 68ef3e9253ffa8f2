import { expect } from 'vitest'
import type { Body, Edit, EditStory, IdOf } from '../kind-test-data.ts'

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

/** A change that replaces the object. */
export function another(spec: Body, object: Body | ((id: IdOf) => Body) = {}): Edit {
  return { spec, sends: 'another object', object: given(object) }
}

/** A list in any order. */
export const sets = (values: readonly unknown[]) => expect.arrayContaining([...values])

/** Server-side apply turns an object whose fields are all removed into null (kubernetes/kubernetes#135841). */
export const notEmpty = { deletionPolicy: 'Delete' }

/** In names of output objects, `PLACE` stands for what is unique to the story. */
export function story(title: string, base: Body, edits: readonly Edit[]): EditStory {
  return { title, base, edits: edits.map((edit) => ({ ...edit, spec: withPlaces(edit.spec, title) })) }
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
