import { type Static, Type } from 'typebox'
import type { Collection } from '../../api/types.ts'
import { choice, integer, list, object, text, timestamp } from '../../schema/define.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import { unionOf } from '../../schema/rules.ts'
import { labelSelector } from './account.ts'
import { accountInUse, bareSpec, conditions, objectName, observedGeneration } from './common.ts'
import { durationText } from './duration.ts'

/** Most objects that one command is sent to: its status has to hold a result for each. */
export const MAX_TARGETS = 200

/** Spec fields that every command has beside what it does. */
export function commandSpec(target: string) {
  return {
    accountRef: Type.Optional(bareSpec.accountRef),
    target: object(
      {
        type: choice(['Session', 'ID', 'Selector'], {
          description: `How the sessions are chosen. Session: \`sessionRef\`, one ${target} of the namespace. ID: \`id\`, whether mirrored or not. Selector: \`selector\`, those with certain labels.`,
        }),
        sessionRef: Type.Optional(
          object({ name: objectName(`Name of a ${target} in the same namespace.`) }, { description: `One ${target}.` }),
        ),
        id: Type.Optional(text({ description: 'Id at the API.', minLength: 1, maxLength: 255 })),
        selector: Type.Optional(
          labelSelector(
            `Every ${target} of the namespace and the account with these labels, at most ${MAX_TARGETS}; an empty selector means all. The sessions are chosen once, when the command begins.`,
          ),
        ),
      },
      {
        description: 'The sessions that the command goes to.',
        rules: [unionOf('type', { Session: 'sessionRef', ID: 'id', Selector: 'selector' })],
      },
    ),
    ttlAfterFinished: Type.Optional(
      durationText({
        field: 'ttlAfterFinished',
        description:
          'How long after the command has finished this resource is deleted, as `10m` or `24h`; from 1s to 8760h. May change at any time, even afterwards. Default: never.',
        least: '1s',
        most: '8760h',
        examples: '30s, 10m or 24h',
      }),
    ),
  }
}

/** What has become of one action on one target. */
export const actionStates = ['Pending', 'Sent', 'Done', 'Refused', 'Gone', 'Unknown', 'Skipped'] as const

export type ActionState = (typeof actionStates)[number]

const action = object(
  {
    action: text({ description: 'What is done.', maxLength: 63 }),
    state: choice(actionStates, {
      description:
        'Pending: not sent yet. Sent: written down before the request, which is then sent at most once. Done: the API took it. Refused: the API did not, see code and message. Gone: there is no such session any more. Unknown: sent, or about to be, without an answer; it is never sent again. Skipped: the action before it was not Done.',
    }),
    sentAt: Type.Optional(timestamp({ description: 'When it was about to be sent.' })),
    endedAt: Type.Optional(timestamp({ description: 'When its end was known.' })),
    code: Type.Optional(
      text({ description: "The API's own code for a refusal, where it gave one: as it came.", maxLength: 64 }),
    ),
    message: Type.Optional(
      text({ description: "Why it is not Done, in the API's own words if it gave any.", maxLength: 1024 }),
    ),
  },
  { description: 'One request.' },
)

const target = object(
  {
    id: text({ description: 'Id at the API.', maxLength: 255 }),
    name: Type.Optional(text({ description: 'Name of its TunnelSession.', maxLength: 253 })),
    startedAt: Type.Optional(timestamp({ description: 'When it started, if known.' })),
    likeness: Type.Optional(
      text({ description: 'Digest of what it keeps when it comes back under another id.', maxLength: 64 }),
    ),
    newID: Type.Optional(
      text({
        description:
          'Id under which it came back, as far as can be told from lists: the only one of the same kind that appeared since. Absent where that cannot be told.',
        maxLength: 255,
      }),
    ),
    actions: list(action, {
      description: 'What is done to it, in this order.',
      maxItems: 4,
      listType: 'map',
      mapKeys: ['action'],
    }),
  },
  { description: 'One target and its results.' },
)

/** Status fields of every command. */
export const commandStatusFields = {
  observedGeneration,
  accountRef: Type.Optional(accountInUse('The account in use.')),
  startedAt: Type.Optional(timestamp({ description: 'When the targets were chosen.' })),
  finishedAt: Type.Optional(timestamp({ description: 'When the last action ended.' })),
  total: Type.Optional(integer({ description: 'Number of targets.', minimum: 0 })),
  done: Type.Optional(integer({ description: 'Number of targets for which every action is Done.', minimum: 0 })),
  targets: Type.Optional(
    list(target, {
      description: 'The targets that were chosen when the command began, and their results.',
      maxItems: MAX_TARGETS,
      listType: 'map',
      mapKeys: ['id'],
    }),
  ),
  conditions: Type.Optional(conditions),
}

const status = object(commandStatusFields, { description: 'State of a command.' })
const commonSpec = object(commandSpec('target'), { description: 'A command.' })

/** What the reconciler reads of the spec of any command. */
export type CommandSpec = Static<typeof commonSpec>
export type CommandStatus = Static<typeof status>
export type Target = Static<typeof target>
export type Action = Static<typeof action>

/** One request to each target. */
export interface CommandStep {
  /** As the status calls it: `Restart`. */
  readonly action: string
  /** As the API calls it: `restart`. */
  readonly command: string
  /** How long after the end of the step before it this one may be sent, in milliseconds. */
  readonly afterMs: number
  /** Whether the target comes back under another id. */
  readonly renews: boolean
}

/** A kind whose CRs are commands: each is carried out once, by at most one request for each target and step. All of it is pure. */
export interface CommandDescriptor<Spec extends CommandSpec = CommandSpec> {
  readonly role: 'command'
  readonly definition: KindDefinition
  readonly collection: Collection
  /** The kind that mirrors the collection: what `sessionRef` and `selector` choose among. */
  readonly mirror: string
  steps(spec: Spec): readonly CommandStep[]
  /** A digest of what an object keeps when it comes back under another id, from the status of the CR that mirrors it. */
  likeness(status: Readonly<Record<string, unknown>>): string | undefined
  /** When the object started, from the status of the CR that mirrors it. */
  startedAt(status: Readonly<Record<string, unknown>>): string | undefined
}
