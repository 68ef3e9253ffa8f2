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
    'Tells the agents of tunnel sessions, once, to restart, stop or update themselves. Each request is sent at most once, and its result is in the status. Nothing is repeated when the resource is applied again or Culvert restarts.',
  ),
  spec: object(
    {
      action: choice(['Restart', 'Stop', 'Update', 'UpdateAndRestart'], {
        description:
          'Restart: the agent replaces its process and has a new session id afterwards; not supported on Windows. Stop: the agent exits. Update: the agent updates itself within its major version; the new code runs after a restart. UpdateAndRestart: both. A restart waits until at least 10 s after an update of the same session, by this or another command, as the API asks for. Immutable.',
      }),
      ...commandSpec('TunnelSession'),
    },
    {
      description:
        'What to do, and to which sessions. Only ttlAfterFinished can be changed: for another command, create another resource.',
      rules: FIXED.map((field) => fixedField(field, { remedy: 'a command runs only once, so create another one' })),
    },
  ),
  status: object(commandStatusFields, { description: 'Result of the command.' }),
  printerColumns: [
    textColumn('Action', '.spec.action', 'What the agents are asked to do.'),
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
      description: 'Number of these sessions for which every action is Done so far.',
    },
    textColumn('Complete', end('Complete', 'status'), 'True: the command is over, and every action is Done.'),
    textColumn('Failed', end('Failed', 'status'), 'True: the command is over, and not every action is Done.'),
    textColumn('Reason', end('Complete', 'reason'), 'Why it is Complete or Failed, or is neither yet.'),
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
        'True (SomeNotDone, NoTarget, TooManyTargets) when the command is over and not every action is Done. False while the command runs, and when it is complete.',
    },
    { type: 'Reconciling', description: 'True while the command is not over, absent afterwards (kstatus).' },
    {
      type: 'Stalled',
      description: 'True when the command is over and not every action is Done, absent otherwise (kstatus).',
    },
  ],
  notes: `
A command that is over has exactly one of \`Complete\` and \`Failed\` True, like a Job, and \`kubectl wait\` can wait
for either:

\`\`\`sh
kubectl wait --for=condition=Complete tunnelsessioncommand/<name>              # until every action is Done
kubectl wait --for=condition=Failed tunnelsessioncommand/<name>                # until it has failed
kubectl wait --for=jsonpath='{.status.finishedAt}' tunnelsessioncommand/<name> # until it is over
\`\`\`

**How long it stays.** \`ttlAfterFinished\` can be set, changed and removed at any time, even after the command is over.
It counts from the end of the command: if the new time has already passed, the command is deleted at once.
One with an update stays for at least 11 seconds, since a restart has to wait for that update.

**At most once.** The selected sessions are written to the status first, and each request is marked \`Sent\` before it
is sent. A request without an answer is \`Unknown\`, and so is one that was \`Sent\` when Culvert died: it may or may
not have been sent, and is never sent again. Only a request that certainly did not reach the agent (no connection, a 401
or a 429) goes back to \`Pending\` and is retried.

**Refusals.** An update fails when none is available, when the agent's configuration disables update checks, while the
agent is updating itself, and when it has updated itself but not restarted yet. \`code\` and \`message\` come from the
API; its codes are not documented, so Culvert only passes them on.

**Targets.** \`Session\` and \`Selector\` require an account with \`mirrorSessions\`; \`ID\` can name any session. If a
selector matches more than ${MAX_TARGETS} sessions, nothing is sent. A session that has ended when its request is sent
is \`Gone\`.

**After a restart.** \`newID\` is found where sessions are mirrored in the namespace: it is the only session that
appeared after the restart was sent, started later, and has the same credential, address, operating system, region,
transport and metadata. Agents that are alike in all of these cannot be told apart, and \`newID\` stays absent. If a new
agent like that connects at that moment, it is taken for the restarted one.
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
