import { noSpecDefaults } from './defaults.ts'
import { noCitations } from './descriptions.ts'
import { camelCaseEnums } from './enums.ts'
import { allowedDefaults, foreignVocabularies } from './exceptions.ts'
import type { Lint } from './lint.ts'
import { noMetadataText } from './metadata-text.ts'
import { explainedPatterns } from './patterns.ts'
import { storableSpecs } from './sizes.ts'
import { discriminatedUnions } from './unions.ts'
import { fromNamesSources } from './value-sources.ts'

/** The rules that `npm run generate` checks for every kind. */
export const lints: readonly Lint[] = [
  camelCaseEnums(foreignVocabularies),
  noMetadataText,
  fromNamesSources,
  discriminatedUnions,
  noCitations,
  explainedPatterns,
  storableSpecs,
  noSpecDefaults(allowedDefaults),
]
