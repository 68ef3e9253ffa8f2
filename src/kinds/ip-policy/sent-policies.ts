import type { Ref } from '../../managed/descriptor/common.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { sorted } from '../building-blocks/remote.ts'

const KIND = 'IPPolicy'

/**
 * Ids of the policies that an object should have, each once. A policy that was deleted at the API keeps counting,
 * without rules, on an object that has it (`management-api.md § States and transitions`), but is refused in a new list.
 * So it stays while nothing else changes, and is left out of a changed list, unless that would leave none.
 * @param held the ids that the object has
 */
export function sentPolicies<Spec>(
  desired: Pick<Desired<Spec>, 'id' | 'isGone'>,
  refs: readonly Ref[],
  held: readonly string[],
): readonly string[] {
  const ids = [...new Set(refs.map((ref) => desired.id(KIND, ref)))]
  if (isSame(ids, held)) return ids
  const there = [...new Set(refs.filter((ref) => !desired.isGone(KIND, ref)).map((ref) => desired.id(KIND, ref)))]
  return there.length === 0 ? ids : there
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
}
