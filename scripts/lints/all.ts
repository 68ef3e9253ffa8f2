import { noCitations } from './descriptions.ts'
import { camelCaseEnums } from './enums.ts'
import { foreignVocabularies } from './exceptions.ts'
import type { Lint } from './lint.ts'
import { storableSpecs } from './sizes.ts'
import { fromNamesSources } from './value-sources.ts'

/** What `npm run generate` holds every kind to. */
export const lints: readonly Lint[] = [
  noCitations,
  camelCaseEnums(foreignVocabularies),
  fromNamesSources,
  storableSpecs,
]
