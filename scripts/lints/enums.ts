import { type Finding, type Lint, placesOf } from './lint.ts'

/** Values that keep a foreign spelling. */
export interface ForeignVocabulary {
  readonly values: readonly string[]
  /** Fields that may have them: `Edge.spec.tlsTermination.minVersion`. */
  readonly places: readonly string[]
  /** The origin of the words. */
  readonly reason: string
}

const camelCase = /^[A-Z][A-Za-z0-9]*$/

/** Enum values are CamelCase, as the Kubernetes API conventions require, except for foreign vocabularies. */
export function camelCaseEnums(foreign: readonly ForeignVocabulary[]): Lint {
  return (kinds) => {
    const odd = placesOf(kinds).flatMap(({ place, node }) => {
      return (node.enum ?? []).map(String).flatMap((value) => (camelCase.test(value) ? [] : [{ place, value }]))
    })
    const listed = foreign.flatMap(({ values, places }) => {
      return places.flatMap((place) => values.map((value) => ({ place, value })))
    })
    return [...without(odd, listed).map(notCamelCase), ...without(listed, odd).map(notNeeded)]
  }
}

interface PlacedValue {
  readonly place: string
  readonly value: string
}

function without(all: readonly PlacedValue[], known: readonly PlacedValue[]): readonly PlacedValue[] {
  return all.filter(({ place, value }) => !known.some((each) => each.place === place && each.value === value))
}

function notCamelCase({ place, value }: PlacedValue): Finding {
  return {
    place,
    problem: `the value "${value}" is not CamelCase: rename it, or list it in scripts/lints/exceptions.ts with the reason`,
  }
}

function notNeeded({ place, value }: PlacedValue): Finding {
  return {
    place,
    problem: `the foreign value "${value}" is not in use here: remove it from scripts/lints/exceptions.ts`,
  }
}
