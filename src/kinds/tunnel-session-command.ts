import { collections } from '../api/collections.ts'
import {
  type CommandDescriptor,
  type CommandStep,
  commandSpec,
  commandStatusFields,
  MAX_TARGETS,
} from '../managed/descriptor/command.ts'
import { choice, object } from '../schema/define.ts'
import { defineKind, experimental, type SpecOf } from '../schema/definition.ts'
import { fixedField } from '../schema/rules.ts'
import { digestOf } from '../util/json.ts'
import { textColumn, wideColumn } from './building-blocks/columns.ts'
import { common } from './building-blocks/plain-kind.ts'
import { objectOf, textOf } from './building-blocks/remote.ts'

const end = (type: 'Complete' | 'Failed', field: string): string => `.status.conditions[?(@.type=="${type}")].${field}`

/** These fields are fixed, since a command runs once. */
const FIXED = ['action', 'target', 'accountRef']

const definition = defineKind({
  ...common,
  kind: 'TunnelSessionCommand',
  plural: 'tunnelsessioncommands',
  singular: 'tunnelsessioncommand',
  shortNames: ['tcmd'],
  scope: 'Namespaced',
  selectableFields: ['.status.accountRef.name', '.spec.accountRef.name'],
  description: experimental(
    'Restarts, stops or updates the agents of tunnel sessions, once. Each request is sent at most once, and its result is recorded in the status. Reapplying the resource or restarting Culvert repeats nothing.',
  ),
  spec: object(
    {
      action: choice(['Restart', 'Stop', 'Update', 'UpdateAndRestart'], {
        description:
          'Restart: the agent replaces its process and gets a new session id; not supported on Windows. Stop: the agent exits. Update: the agent updates itself within its major version; the new code runs after a restart. UpdateAndRestart: both. A restart is sent at least 10 s after an update of the same session by this or another command, as the API requires. Immutable.',
      }),
      ...commandSpec('TunnelSession'),
    },
    {
      description:
        'The action and the sessions it applies to. Only ttlAfterFinished can be changed; for another command, create another resource.',
      rules: FIXED.map((field) => fixedField(field, { remedy: 'a command runs only once, so create another command' })),
    },
  ),
  status: object(commandStatusFields, { description: 'Result of the command.' }),
  printerColumns: [
    textColumn('Action', '.spec.action', 'Action that is sent to the agents.'),
    {
      name: 'Targets',
      type: 'integer',
      jsonPath: '.status.total',
      description: 'Number of selected sessions.',
    },
    {
      name: 'Done',
      type: 'integer',
      jsonPath: '.status.done',
      description: 'Number of sessions for which every action is Done.',
    },
    textColumn('Complete', end('Complete', 'status'), 'True when the command has finished and every action is Done.'),
    textColumn('Failed', end('Failed', 'status'), 'True when the command has finished and not every action is Done.'),
    textColumn('Reason', end('Complete', 'reason'), 'Why the command is Complete, Failed, or neither yet.'),
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age of the resource.' },
    wideColumn('Message', end('Complete', 'message'), 'Message of the condition Complete.'),
  ],
  conditions: [
    {
      type: 'Complete',
      description: 'True (AllDone) when every action is Done. False while the command runs, and when it has failed.',
    },
    {
      type: 'Failed',
      description:
        'True (SomeNotDone, NoTarget, TooManyTargets) when the command has finished and not every action is Done. False while the command runs, and when it is complete.',
    },
    { type: 'Reconciling', description: 'True until the command has finished, absent afterwards (kstatus).' },
    {
      type: 'Stalled',
      description: 'True when the command has finished and not every action is Done, absent otherwise (kstatus).',
    },
  ],
  notes: `
When a command has finished, exactly one of \`Complete\` and \`Failed\` is True, as for a Job, and \`kubectl wait\` can wait
for either:

\`\`\`sh
kubectl wait --for=condition=Complete tunnelsessioncommand/<name>              # until every action is Done
kubectl wait --for=condition=Failed tunnelsessioncommand/<name>                # until it has failed
kubectl wait --for=jsonpath='{.status.finishedAt}' tunnelsessioncommand/<name> # until it has finished
\`\`\`

**Retention.** \`ttlAfterFinished\` can be set, changed and removed at any time, even after the command has finished.
It counts from the end of the command: if the new time has already passed, the command is deleted immediately.
A command with an update is kept for at least 11 seconds, since a later restart has to wait for that update.

**At most once.** The selected sessions are written to the status first, and each request is marked \`Sent\` before it
is sent. A request without a response is \`Unknown\`, as is one that was \`Sent\` when Culvert crashed: it may have been
sent, and is never sent again. Only a request that certainly did not reach the agent (no connection, a 401 or a 429)
returns to \`Pending\` and is retried.

**Refusals.** An update fails if none is available, if the agent's configuration disables update checks, while the
agent is updating itself, and if it has updated itself but not restarted yet. \`code\` and \`message\` come from the
API, whose codes are not documented; Culvert passes them on unchanged.

**Targets.** \`Session\` and \`Selector\` require an account with \`mirrorSessions\`; \`ID\` can name any session. If a
selector matches more than ${MAX_TARGETS} sessions, nothing is sent. A session that has ended when its request is sent
is \`Gone\`.

**After a restart.** \`newID\` is set where sessions are mirrored in the namespace: it is the only session that
appeared after the restart was sent, started later, and has the same credential, address, operating system, region,
transport and metadata. Agents that agree in all of these cannot be distinguished, and \`newID\` stays absent. If a new
agent with the same properties connects at that moment, it is mistaken for the restarted one.
`,
})

export type TunnelSessionCommandSpec = SpecOf<typeof definition>

/** Minimum time between an update and a restart (`management-api.md § Limits`). */
const UPDATE_TO_RESTART_MS = 10_000

const update: CommandStep = {
  action: 'Update',
  command: 'update',
  renews: false,
  awaitedMs: UPDATE_TO_RESTART_MS,
}
const restart: CommandStep = {
  action: 'Restart',
  command: 'restart',
  renews: true,
  spacing: { after: update.action, ms: UPDATE_TO_RESTART_MS },
}

const STEPS: Readonly<Record<TunnelSessionCommandSpec['action'], readonly CommandStep[]>> = {
  Restart: [restart],
  Stop: [{ action: 'Stop', command: 'stop', renews: false }],
  Update: [update],
  UpdateAndRestart: [update, restart],
}

/** Commands to the agents of tunnel sessions (`management-api.md § Endpoints`, Tunnel sessions). */
export const tunnelSessionCommand: CommandDescriptor<TunnelSessionCommandSpec> = {
  role: 'command',
  reach: 'account',
  definition,
  collection: collections.tunnelSessions,
  mirror: 'TunnelSession',
  steps: ({ action }) => STEPS[action],
  likeness: ({ credential, ip, metadata, os, region, transport }) => {
    const kept = [objectOf(credential)?.id, ip, metadata, os, region, transport].map((value) => textOf(value) ?? '')
    return digestOf(kept, 40)
  },
  startedAt: ({ startedAt }) => textOf(startedAt),
}
