import { type AccountResource, nameOfAccount } from '../account-resource.ts'
import { isDeleting, shortName } from '../cr.ts'
import type { CommandDescriptor, CommandSpec, Target } from '../descriptor/command.ts'
import { selects } from '../descriptor/label-selector.ts'
import type { MirrorDescriptor } from '../descriptor/mirror.ts'
import { type MirroredObject, mirrorName } from './mirrored.ts'

/** An object that a command may choose, with the account that it belongs to. */
export interface Candidate {
  readonly object: MirroredObject
  readonly id: string
  /** As `Account/name`. */
  readonly account: string
}

/**
 * A mirrored object as a candidate. Edits of the mirror must not redirect a command: the name must have been made from
 * the id, and the owner must be an account.
 */
export function candidateOf(
  object: MirroredObject | undefined,
  holder: AccountResource | undefined,
  { namePrefix }: MirrorDescriptor,
): Candidate | undefined {
  const id = object?.status?.id
  if (object === undefined || holder === undefined || typeof id !== 'string' || isDeleting(object)) return undefined
  if (mirrorName(namePrefix, id) !== object.metadata.name) return undefined
  return { object, id, account: shortName(nameOfAccount(holder)) }
}

/** The targets of a command, each once, in a fixed order. */
export function targetsOf(
  descriptor: CommandDescriptor,
  spec: CommandSpec,
  account: string,
  candidates: readonly Candidate[],
): readonly Target[] {
  const meant = candidates.filter((candidate) => candidate.account === account && isMeant(spec.target, candidate))
  const actions = descriptor.steps(spec).map(({ action }) => ({ action, state: 'Pending' as const }))
  const { type, id } = spec.target
  if (type === 'ID' && id !== undefined && meant.length === 0) return [{ id, actions }]
  return meant
    .map(({ id: found, object }) => {
      const startedAt = descriptor.startedAt(object.status ?? {})
      const likeness = descriptor.likeness(object.status ?? {})
      return {
        id: found,
        name: object.metadata.name,
        ...(startedAt === undefined ? {} : { startedAt }),
        actions,
        ...(likeness === undefined ? {} : { internal: { likeness } }),
      }
    })
    .sort((left, right) => (left.id < right.id ? -1 : 1))
}

function isMeant({ type, sessionRef, id, selector }: CommandSpec['target'], { object, id: found }: Candidate): boolean {
  switch (type) {
    case 'Session':
      return sessionRef !== undefined && object.metadata.name === sessionRef.name
    case 'ID':
      return found === id
    case 'Selector':
      return selector !== undefined && selects(selector, object.metadata.labels ?? {})
  }
}
