import { type Finding, type Lint, placesOf } from './lint.ts'

/** A field of a spec that has a default in the CRD. */
export interface AllowedDefault {
  /** `Account.spec.resyncInterval`, or `*.spec.accountRef.kind` for every kind that has it. */
  readonly places: readonly string[]
  /** Why an omitted field need not be distinguished from one set to the default. */
  readonly reason: string
}

/**
 * Fields of a spec have no default in the CRD: the apiserver would fill it in, and an omitted field could not be
 * distinguished from one that was set. Fields that never reach the API may have one.
 */
export function noSpecDefaults(allowed: readonly AllowedDefault[]): Lint {
  return (kinds) => {
    const withDefault = placesOf(kinds)
      .filter(({ place, node }) => /^\w+\.spec\b/.test(place) && node.default !== undefined)
      .map(({ place }) => place)
    const listed = allowed.flatMap(({ places }) => places)
    return [
      ...withDefault.filter((place) => !listed.some((each) => covers(each, place))).map(unlisted),
      ...listed.filter((each) => !withDefault.some((place) => covers(each, place))).map(notNeeded),
    ]
  }
}

function covers(listed: string, place: string): boolean {
  return listed === place || (listed.startsWith('*.') && listed.slice(1) === place.slice(place.indexOf('.')))
}

function unlisted(place: string): Finding {
  return {
    place,
    problem:
      'has a default in the CRD: let the descriptor fill it in, or list the field in scripts/lints/exceptions.ts if it is never sent to the API',
  }
}

function notNeeded(place: string): Finding {
  return { place, problem: 'has no default in the CRD: remove it from scripts/lints/exceptions.ts' }
}
