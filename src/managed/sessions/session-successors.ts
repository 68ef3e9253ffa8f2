import type { CommandDescriptor, CommandSpec, Target } from '../descriptor/command.ts'
import type { Candidate } from './command-targets.ts'

/**
 * Records the ids under which targets came back, as far as they can be determined: for each restarted target, the only
 * object of the same likeness that appeared since and started later. None if two targets, or two objects, have the same
 * likeness.
 */
export function withSuccessors(
  descriptor: CommandDescriptor,
  spec: CommandSpec,
  targets: readonly Target[],
  candidates: readonly Candidate[],
): readonly Target[] {
  const renewing = new Set(
    descriptor
      .steps(spec)
      .filter(({ renews }) => renews)
      .map(({ action }) => action),
  )
  return targets.map((target) => {
    const since = renewedAt(target, renewing)
    if (since === undefined || target.newID !== undefined) return target
    if (targets.filter(({ internal }) => internal?.likeness === target.internal?.likeness).length > 1) return target
    const matches = candidates.filter((candidate) => isSuccessor(descriptor, target, since, targets, candidate))
    const [only] = matches
    return only !== undefined && matches.length === 1 ? { ...target, newID: only.id } : target
  })
}

/** Whether a target may still be found again. */
export function isAwaiting(descriptor: CommandDescriptor, spec: CommandSpec, targets: readonly Target[]): boolean {
  const renewing = new Set(
    descriptor
      .steps(spec)
      .filter(({ renews }) => renews)
      .map(({ action }) => action),
  )
  return targets.some((target) => target.newID === undefined && renewedAt(target, renewing) !== undefined)
}

/** When the restart was sent to the target; undefined if it was not, or if its likeness is unknown. */
function renewedAt({ internal, startedAt, actions }: Target, renewing: ReadonlySet<string>): string | undefined {
  if (internal?.likeness === undefined || startedAt === undefined) return undefined
  return actions.find(({ action, state }) => renewing.has(action) && state === 'Done')?.sentAt
}

function isSuccessor(
  descriptor: CommandDescriptor,
  { internal, startedAt = '' }: Target,
  since: string,
  targets: readonly Target[],
  { id, object }: Candidate,
): boolean {
  const status = object.status ?? {}
  const began = descriptor.startedAt(status)
  const shownAt = object.metadata.creationTimestamp
  return (
    descriptor.likeness(status) === internal?.likeness &&
    !targets.some((target) => target.id === id || target.newID === id) &&
    began !== undefined &&
    Date.parse(began) >= Date.parse(startedAt) &&
    shownAt !== undefined &&
    // Kubernetes timestamps have whole seconds.
    Date.parse(shownAt) >= Math.floor(Date.parse(since) / 1000) * 1000
  )
}
