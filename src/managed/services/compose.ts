import type { KubeObject } from '../../kube/types.ts'
import { LASTING_MS } from '../composed/composed-reconciler.ts'
import type { Composition, Course, OwnedPart, Step } from '../composed/composition.ts'
import { DELETING_MS } from '../composed/owned-objects.ts'
import { cannotBecome, currentOf, isAsWanted, isLeftBehind, isSettled, textOf } from '../composed/wanted.ts'
import { type CustomResource, isDeleting, nameOf, shortName } from '../cr.ts'
import { reasons } from '../descriptor/reasons.ts'
import { ownershipOf } from '../ownership.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import { closed, closingOf, type Known } from './closing.ts'
import { type ServicePart, serviceObjects } from './objects.ts'
import type { ServicePolicy, ServiceResource } from './service.ts'
import { refusedBy } from './service-status.ts'

/** What exists. */
export interface Existing extends Known {
  /** Everything that a Service of that name owns, or owned under another UID. */
  readonly parts: readonly OwnedPart[]
  /** An object that a watch has reported, with any owner or none. */
  stored(wanted: ServicePart): KubeObject | undefined
}

/** What a Service of Culvert's class consists of, and how it gets there from what exists. Pure. */
export function composeService(
  service: ServiceResource,
  policy: Pick<ServicePolicy, 'maxPorts'>,
  existing: Existing,
): Composition {
  const wanted = serviceObjects(service, policy, (kind) => existing.kinds.resourceType(kind))
  if ('refused' in wanted) return { courses: [], surplus: [], problem: refusedBy(wanted.refused) }
  const names = new Set(wanted.ports.flatMap(({ objects }) => objects.map(textOf)))
  return {
    courses: wanted.ports.map(({ objects }) => courseOf(service, objects, existing)),
    surplus: existing.parts.filter(({ stored }) => !names.has(shortName(nameOf(stored)))),
    problem: wanted.problems.length > 0 ? refusedBy(wanted.problems) : undefined,
  }
}

/** The objects of a port; those that cannot become what is wanted are deleted first. */
function courseOf(service: ServiceResource, objects: readonly ServicePart[], existing: Existing): Course {
  const left = objects.flatMap((wanted) => {
    const stored = existing.stored(wanted)
    return stored !== undefined && isLeftBehind(stored, wanted) ? [{ wanted, stored }] : []
  })
  if (left.length > 0) {
    const message = `${left.map(({ wanted }) => textOf(wanted)).join(', ')} of a former Service are taken over`
    return {
      steps: left.map(({ wanted: { type }, stored }) => ({ do: 'takeBack', type, left: stored })),
      // They are known as this Service's own once the watches show that.
      unfinished: new WaitError(reasons.Progressing, message, DELETING_MS),
    }
  }
  const own = (wanted: ServicePart): KubeObject | undefined => {
    const stored = existing.stored(wanted)
    return stored !== undefined && ownershipOf(stored, service).type === 'own' ? stored : undefined
  }
  const unfit = objects.filter((wanted) => {
    const stored = own(wanted)
    return stored !== undefined && (isDeleting(stored) || cannotBecome(stored, wanted))
  })
  const outdated = objects.filter((wanted) => {
    const isFollowing = unfit.some(({ role }) => wanted.follows.includes(role))
    return own(wanted) !== undefined && (isFollowing || unfit.includes(wanted))
  })
  if (outdated.length > 0) {
    return {
      // What uses the others goes first: if this stops in between, nothing is left that still uses what goes.
      steps: outdated.toReversed().flatMap((wanted): readonly Step[] => {
        const stored = own(wanted)
        return stored === undefined || isDeleting(stored)
          ? []
          : [{ do: 'remove', type: wanted.type, name: wanted.name }]
      }),
      unfinished: new WaitError(
        reasons.Progressing,
        `${outdated.map(textOf).join(', ')} will be replaced`,
        DELETING_MS,
      ),
    }
  }
  for (const entry of objects.filter(({ role }) => role === 'entry')) {
    const course = closingCourse(objects, entry, own(entry), existing)
    if (course !== undefined) return course
  }
  return { steps: objects.map(keeping) }
}

function keeping(wanted: ServicePart): Step {
  return { do: 'keep', wanted }
}

/** Closes the entry of a port while it cannot be restricted as the Service asks; undefined if it can. */
function closingCourse(
  objects: readonly ServicePart[],
  entry: ServicePart,
  stored: KubeObject | undefined,
  existing: Existing,
): Course | undefined {
  const edge = stored as CustomResource | undefined
  const closing = edge && closingOf(existing, edge, entry)
  if (edge === undefined || closing === undefined) return undefined
  const { isRefused, turnsOff, why } = closing
  const until = `until its policies can be applied: ${why}`
  const reason = isRefused ? reasons.Rejected : reasons.ReferenceNotReady
  const isClosed = new TerminalError(reason, `${textOf(entry)} is closed ${until}`)
  if (!turnsOff) return { steps: objects.map(keeping), unfinished: isClosed }
  const wanted = closed(existing, edge, entry, closing)
  // Before anything that may fail.
  const steps = [wanted, ...objects.filter((each) => each !== entry)].map(keeping)
  const isWritten = isAsWanted(edge, wanted)
  if (isWritten && isSettled(edge)) return { steps, unfinished: isClosed }
  const message = `${textOf(entry)} is being closed ${until}`
  const isStuck = isRefused && isWritten && currentOf(edge) !== undefined
  return {
    steps,
    unfinished: isStuck
      ? new TerminalError(reasons.Rejected, message)
      : new WaitError(reasons.Progressing, message, LASTING_MS),
  }
}
