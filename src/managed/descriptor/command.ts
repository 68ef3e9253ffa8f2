import { type Static, Type } from 'typebox'
import type { Collection } from '../../api/types.ts'
import { choice, integer, list, object, text, timestamp } from '../../schema/define.ts'
import type { KindDefinition } from '../../schema/definition.ts'
import { unionOf } from '../../schema/rules.ts'
import type { Reach } from './access.ts'
import { accountInUse, accountRefTo, conditionsList, objectID, objectName, observedGeneration } from './common.ts'
import { durationText } from './duration.ts'
import { INTERNAL_DESCRIPTION } from './internal.ts'
import { labelSelector } from './label-selector.ts'

/** Maximum number of targets of one command: its status must hold a result for each. */
export const MAX_TARGETS = 200

/** Spec fields common to all commands. */
export function commandSpec(target: string) {
  return {
    accountRef: Type.Optional(
      accountRefTo(
        'The account that the sessions belong to. Default: the account of `target.sessionRef`, otherwise the Account named `default` in the namespace, otherwise the ClusterAccount named `default`. Immutable.',
      ),
    ),
    target: object(
      {
        type: choice(['Session', 'ID', 'Selector'], {
          description: `How sessions are selected. Session: one ${target}, by \`sessionRef\`. ID: any session of the account, by \`id\`; in a shared account, only a session that is shown in this namespace, or in no namespace if \`unmanagedObjects\` of the account is Adopt. Selector: TunnelSessions by label, with \`selector\`. Session and Selector require \`mirrorSessions\` in the account.`,
        }),
        sessionRef: Type.Optional(
          object(
            { name: objectName(`Name of a ${target} in the same namespace.`) },
            { description: `One ${target} in the namespace.` },
          ),
        ),
        id: Type.Optional(objectID('Id of the session.')),
        selector: Type.Optional(
          labelSelector(
            `Selects every ${target} in the namespace and account with matching labels; an empty selector selects all. The sessions are selected once, when the command begins; if there are more than ${MAX_TARGETS}, nothing is sent and the command fails.`,
          ),
        ),
      },
      {
        description: 'The sessions that the command is sent to. Immutable.',
        rules: [unionOf('type', { Session: 'sessionRef', ID: 'id', Selector: 'selector' })],
      },
    ),
    ttlAfterFinished: Type.Optional(
      durationText({
        field: 'ttlAfterFinished',
        description:
          'Time after which Culvert deletes this resource once the command has finished, such as `10m` or `24h`; from 1s to 8760h. Can be changed at any time, even after the command has finished. Default: never.',
        least: '1s',
        most: '8760h',
        examples: '30s, 10m or 24h',
      }),
    ),
  }
}

/** The state of one action on one target. */
export const actionStates = ['Pending', 'Sent', 'Done', 'Refused', 'Gone', 'Unknown', 'Skipped'] as const

export type ActionState = (typeof actionStates)[number]

const action = object(
  {
    action: text({ description: 'Restart, Stop or Update.', maxLength: 63 }),
    state: choice(actionStates, {
      description:
        'Pending: not sent yet. Sent: about to be sent, or sent without a response so far. Done: accepted by the API. Refused: refused by the API, see code and message. Gone: the session no longer exists. Unknown: possibly sent, but the response was lost; never sent again. Skipped: the previous action was not Done.',
    }),
    sentAt: Type.Optional(timestamp({ description: 'When the request was recorded, immediately before it was sent.' })),
    endedAt: Type.Optional(timestamp({ description: 'When its result became known.' })),
    code: Type.Optional(
      text({ description: "The API's error code for a refusal, if it returned one.", maxLength: 64 }),
    ),
    message: Type.Optional(
      text({ description: "Why it is not Done: the API's error message, if it returned one.", maxLength: 1024 }),
    ),
  },
  { description: 'One action and its result.' },
)

const target = object(
  {
    id: text({ description: 'Id of the session.', maxLength: 255 }),
    name: Type.Optional(text({ description: 'Name of its TunnelSession, if it had one.', maxLength: 253 })),
    startedAt: Type.Optional(timestamp({ description: 'When the session started, if known.' })),
    newID: Type.Optional(
      text({
        description:
          'Id of the session after the restart: the only matching session that has appeared since. Absent if there is none, or more than one.',
        maxLength: 255,
      }),
    ),
    actions: list(action, {
      description: 'The actions on the session, in order.',
      maxItems: 4,
      listType: 'map',
      mapKeys: ['action'],
    }),
    internal: Type.Optional(
      object(
        {
          likeness: Type.Optional(
            text({
              description:
                'Digest of the properties that a restart of the agent does not change, used to find `newID`.',
              maxLength: 64,
            }),
          ),
        },
        { description: INTERNAL_DESCRIPTION },
      ),
    ),
  },
  { description: 'One session and its results.' },
)

/** Status fields of every command. */
export const commandStatusFields = {
  observedGeneration,
  accountRef: Type.Optional(accountInUse('The account in use.')),
  startedAt: Type.Optional(timestamp({ description: 'When the command began and the sessions were selected.' })),
  finishedAt: Type.Optional(timestamp({ description: 'When the command ended.' })),
  total: Type.Optional(integer({ description: 'Number of selected sessions.', minimum: 0 })),
  done: Type.Optional(
    integer({
      description: 'Number of sessions for which every action is Done.',
      minimum: 0,
    }),
  ),
  targets: Type.Optional(
    list(target, {
      description: 'The sessions that were selected when the command began, and their results.',
      maxItems: MAX_TARGETS,
      listType: 'map',
      mapKeys: ['id'],
    }),
  ),
  conditions: Type.Optional(
    conditionsList(
      'Complete: the command has finished and every action is Done. Failed: the command has finished and not every action is Done. Reconciling: the command has not finished. Stalled: the command has failed. Reconciling and Stalled are present only while true (kstatus).',
    ),
  ),
}

const status = object(commandStatusFields, { description: 'State of a command.' })
const commonSpec = object(commandSpec('target'), { description: 'A command.' })

/** The part of the spec of any command that the reconciler reads. */
export type CommandSpec = Static<typeof commonSpec>
export type CommandStatus = Static<typeof status>
export type Target = Static<typeof target>
export type Action = Static<typeof action>

/** One request to each target. */
export interface CommandStep {
  /** Its name in the status: `Restart`. */
  readonly action: string
  /** Its name in the API: `restart`. */
  readonly command: string
  /**
   * How long it waits, in milliseconds, after another action on the same target has ended, whichever command that
   * belonged to.
   */
  readonly spacing?: { readonly after: string; readonly ms: number }
  /**
   * The longest `spacing` of a step after this one, in milliseconds; its command is not deleted before that is over.
   */
  readonly awaitedMs?: number
  /** Whether the target comes back under another id. */
  readonly renews: boolean
}

/**
 * A kind whose CRs are commands: each runs once, with at most one request per target and step. All members are pure.
 */
export interface CommandDescriptor<Spec extends CommandSpec = CommandSpec> {
  readonly role: 'command'
  readonly definition: KindDefinition
  readonly reach: Reach
  readonly collection: Collection
  /** The kind that mirrors the collection: `sessionRef` and `selector` choose among its CRs. */
  readonly mirror: string
  steps(spec: Spec): readonly CommandStep[]
  /**
   * A digest of what an object keeps when it comes back under another id, computed from the status of the CR that
   * mirrors it.
   */
  likeness(status: Readonly<Record<string, unknown>>): string | undefined
  /** When the object started, from the status of the CR that mirrors it. */
  startedAt(status: Readonly<Record<string, unknown>>): string | undefined
}
