import { objectID } from '../../managed/descriptor/common.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { object } from '../../schema/define.ts'
import { isOurs } from './is-ours.ts'
import { refId } from './remote.ts'

/** Spec field that refers to an endpoint configuration, by id only, since no kind creates them. */
export function endpointConfigurationRef(traffic: string) {
  return object(
    { id: objectID('Id of the endpoint configuration.') },
    {
      description: `An existing endpoint configuration that the service applies to ${traffic}. Culvert does not manage endpoint configurations. Default: one set outside Culvert is kept; one that was previously set in the spec is removed.`,
    },
  )
}

/** A reference to an object that no kind creates. */
interface ForeignRef {
  readonly id: string
}

/** The reference that the object has, as a spec has it; undefined if it has none. */
export function writtenConfiguration(held: unknown): ForeignRef | undefined {
  const id = refId(held)
  return id === undefined ? undefined : { id }
}

/** The ids that a spec sets in such references, by field. */
export function foreignIdsOf(refs: Readonly<Record<string, ForeignRef | undefined>>) {
  return Object.entries(refs).flatMap(([path, ref]) =>
    ref === undefined ? [] : [{ path: `spec.${path}.id`, id: ref.id }],
  )
}

/**
 * The id to send: null removes the one that the spec named before, undefined leaves alone one that was set outside
 * Culvert.
 */
export function wantedConfiguration(
  desired: Pick<Desired<unknown>, 'status'>,
  part: string,
  ref: ForeignRef | undefined,
): string | null | undefined {
  return ref?.id ?? (isOurs(desired, part) ? null : undefined)
}
