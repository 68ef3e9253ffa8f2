import { countedMembers } from '../../src/schema/rules.ts'
import { type Lint, placesOf } from './lint.ts'

const LARGEST_BARE_UNION = 2

/**
 * Unions of three or more have a discriminator: an older CRD prunes a member that it does not know, and then only the
 * discriminator shows that there was one.
 */
export const discriminatedUnions: Lint = (kinds) =>
  placesOf(kinds).flatMap(({ place, node }) =>
    (node['x-kubernetes-validations'] ?? [])
      .map(({ rule }) => countedMembers(rule))
      .filter((members) => members.length > LARGEST_BARE_UNION)
      .map((members) => ({
        place,
        problem: `is a union of ${members.join(', ')} without a discriminator: add a field type and the rule unionOf`,
      })),
  )
