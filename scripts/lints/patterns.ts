import { type Lint, placesOf } from './lint.ts'

/** A regular expression explains nothing to people: each text of a spec that has to match one says what it must be. */
export const explainedPatterns: Lint = (kinds) => {
  return placesOf(kinds)
    .filter(({ place, node }) => /^\w+\.spec\b/.test(place) && node.pattern !== undefined && node.mustBe === undefined)
    .map(({ place }) => ({ place, problem: 'has a pattern and no words for it: say with mustBe what matches' }))
}
