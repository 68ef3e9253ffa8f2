import { type Lint, placesOf } from './lint.ts'

/** `spec.metadata` is not a text, because that would replace Culvert's marker on the object. */
export const noMetadataText: Lint = (kinds) =>
  placesOf(kinds)
    .filter(({ place, node }) => /^\w+\.spec\.metadata$/.test(place) && node.type === 'string')
    .map(({ place }) => ({
      place,
      problem: 'is a text: make metadata a map of texts, and name the text rawMetadata',
    }))
