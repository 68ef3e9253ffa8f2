import type { Shape } from '../../contract/facts/facts.ts'
import { objectNamed } from '../../contract/facts/objects.ts'

/** Values of other types than the shape, invalid in every reading of the contract. */
export function wrongValues(shape: Shape | undefined): readonly unknown[] {
  if (shape === undefined) throw new Error('a field that no request may carry has no wrong values')
  switch (shape.kind) {
    case 'string':
    case 'id':
      return [7, true, ['x'], { a: 'x' }]
    case 'boolean':
      return ['true', 1, {}]
    case 'integer':
      return ['1', 1.5, true, [], outsideOf(shape)].filter((value) => value !== undefined)
    case 'list':
      return ['x', 7, ...(shape.singleAllowed ? [] : [{}]), ...wrongValues(shape.of).map((value) => [value])]
    case 'map':
      return ['x', 7, [], ...wrongValues(shape.of).map((value) => ({ key: value }))]
    case 'object':
      return ['x', 7, [], { 'no such field': 1 }, ...wrongFields(shape.object)]
    case 'ref':
    case 'free-object':
      return ['x', 7, []]
  }
}

function outsideOf(shape: Extract<Shape, { kind: 'integer' }>): number | undefined {
  if (shape.max !== undefined) return shape.max + 1
  return shape.values === undefined ? undefined : Math.max(...shape.values) + 1
}

function wrongFields(name: string): readonly unknown[] {
  return objectNamed(name).fields.flatMap((field) => wrongValues(field.shape).map((value) => ({ [field.name]: value })))
}

/** A text of exactly that many bytes in UTF-8, of two-byte characters and a single byte where needed. */
export function textOfBytes(bytes: number): string {
  return 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2)
}
