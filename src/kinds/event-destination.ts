import { collections } from '../api/collections.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { cut } from '../util/printable.ts'
import { available, inCollection, plain, plainFields } from './building-blocks/plain-kind.ts'
import { namesOf, textOf } from './building-blocks/remote.ts'
import { type EventDestinationSpec, eventDestinationDefinition } from './events/destination-schema.ts'
import {
  comparableTarget,
  hidesAccessKeyId,
  holdsSecrets,
  SECRETS,
  SECRETS_AND_KEY_ID,
  sentTarget,
  targetSecrets,
  targetType,
  writtenTarget,
} from './events/target.ts'

/** Sinks for account events (`management-api.md § Events`). The target is replaced as a whole. */
export const eventDestination: ManagedDescriptor<EventDestinationSpec> = {
  ...plain,
  role: 'managed',
  reach: 'account',
  definition: eventDestinationDefinition,
  identity: inCollection(collections.eventDestinations),
  inputs: { of: targetSecrets },
  fields: {
    ...plainFields,
    secret: ['target'],
    open: ['target'],
    setBy: ({ format }) => namesOf({ format, target: true }),
    // JSON is the only format; it is returned in lower case.

    desire: (desired) => ({ format: 'json', target: sentTarget(desired) }),
    observe: ({ format, target }) => ({
      format: textOf(format)?.toLowerCase(),
      target: comparableTarget(target, hiddenIn(target)),
    }),
    comparable: (fields, remote) => ({ ...fields, target: comparableTarget(fields.target, hiddenIn(remote?.target)) }),
  },
  manifest: {
    namedAfter: ({ description, target }) => [textOf(description), targetType(target)],
    specOf: ({ target }, { name }) => writtenTarget(target, name),
    observeOnly: ({ target }) =>
      holdsSecrets(target)
        ? 'The API does not show its secrets: put them into the Secret that the spec names, then set managementPolicy: Manage.'
        : undefined,
  },
  status: {
    shown: ({ target }) => {
      const type = targetType(target)
      return type === undefined ? {} : { targetType: cut(type, 255) }
    },
    readiness: () => available('the destination is in place'),
  },
}

/** Members that are not compared with those of this target. */
function hiddenIn(target: unknown): ReadonlySet<string> {
  return hidesAccessKeyId(target) ? SECRETS_AND_KEY_ID : SECRETS
}
