import type { Desired } from '../../managed/descriptor/descriptor.ts'
import { object, text } from '../../schema/define.ts'
import { isOurs } from './parts-of-others.ts'

/** Field of a spec that refers to an endpoint configuration. No kind makes them, so that there is none to name. */
export function endpointConfigurationRef(traffic: string) {
  return object(
    { id: text({ description: 'Id of the endpoint configuration at the API.', minLength: 1, maxLength: 255 }) },
    {
      description: `An existing endpoint configuration that the service applies to ${traffic}. Culvert does not manage endpoint configurations. Default: what is there, if somebody else set it; one that the spec named before is taken off.`,
    },
  )
}

/** An object that no kind makes, as a spec names it. */
interface ForeignRef {
  readonly id: string
}

/** The ids of such references that a spec sets, by their fields. */
export function foreignIdsOf(refs: Readonly<Record<string, ForeignRef | undefined>>) {
  return Object.entries(refs).flatMap(([path, ref]) =>
    ref === undefined ? [] : [{ path: `spec.${path}.id`, id: ref.id }],
  )
}

/** The id to send: null takes off what the spec named before, undefined leaves alone what somebody else set. */
export function wantedConfiguration(
  desired: Pick<Desired<unknown>, 'status'>,
  part: string,
  ref: ForeignRef | undefined,
): string | null | undefined {
  return ref?.id ?? (isOurs(desired, part) ? null : undefined)
}
