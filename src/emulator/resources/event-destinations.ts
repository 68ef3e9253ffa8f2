import { invalid } from '../errors.ts'
import { DESCRIBED, SHOWN_TEXTS } from '../fields/common.ts'
import { mandatory, type Reader, reader } from '../fields/field.ts'
import { string } from '../fields/readers.ts'
import { textOf } from '../json.ts'
import { keepSecrets, readTarget, renderTarget, SHOWN_TARGET } from './event-target.ts'
import type { Resource } from './resource.ts'

/** JSON is the only format; any case is accepted, lower case is returned. */
const format: Reader<string> = reader({ type: 'string', pattern: '^[Jj][Ss][Oo][Nn]$' }, (value, at) => {
  if (string(value, at).toLowerCase() !== 'json') throw invalid(at, 'must be json')
  return 'json'
})

/** Destinations of events. One that a subscription refers to cannot be deleted. */
export const eventDestinations: Resource = {
  path: 'event_destinations',
  listKey: 'event_destinations',
  idPrefix: 'ed',
  eventName: 'event_destination',
  updateAnswer: 'unstated',
  served: true,
  fields: { ...DESCRIBED, format: mandatory(format), target: mandatory(readTarget) },
  prepare: ({ before, given, next }) => {
    if (given.target !== undefined) next.target = keepSecrets(given.target, before?.target)
  },
  shows: { ...SHOWN_TEXTS, format: { type: 'string', const: 'json' }, target: SHOWN_TARGET },
  render: (destination, { choices }) => ({
    description: textOf(destination, 'description'),
    metadata: textOf(destination, 'metadata'),
    format: 'json',
    target: renderTarget(destination.target, choices),
  }),
}
