import { parseLabelSelector } from '../../managed/accounts/selector-text.ts'
import type { CommandStatus } from '../../managed/descriptor/command.ts'
import type { Descriptor } from '../../managed/descriptor/descriptor.ts'
import type { LabelSelector } from '../../managed/descriptor/label-selector.ts'
import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import { counted } from '../../util/printable.ts'
import { systemRandom } from '../../util/random.ts'
import type { Cluster, ClusterFlags } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import { argumentText, type ResourceArgument } from '../cluster/resource-argument.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import { followRequest } from '../requests/follow.ts'
import { wrap } from '../terminal/line.ts'
import { tableLines } from '../terminal/table.ts'
import { confirm } from '../terminal/terminal.ts'
import { noneText, type ShownSession, sessionLines, sessionsIn } from './list.ts'

/** What agents can be asked to do. */
export type SessionAction = 'restart' | 'stop' | 'update'

/** Flags of `culvert sessions restart`, `stop` and `update`. */
export interface ActionFlags extends ClusterFlags {
  readonly selector?: string
  readonly yes: boolean
  readonly ttl: string
  readonly wait: boolean
  readonly timeout: number
  /** Of an update only. */
  readonly restart?: boolean
}

/** A TunnelSessionCommand to create. */
interface PlannedCommand {
  readonly sessions: readonly ShownSession[]
  readonly spec: Readonly<Record<string, unknown>>
}

/** @returns the exit code of the process */
export async function runSessionAction(
  cluster: Cluster,
  action: SessionAction,
  args: readonly string[],
  flags: ActionFlags,
): Promise<number> {
  const { namespace, out, err } = cluster
  const planned = await planCommands(cluster, args, flags.selector)
  const sessions = planned.flatMap((each) => each.sessions)
  if (sessions.length === 0) {
    err.print(await noneText(cluster, namespace))
    return 1
  }
  for (const line of sessionLines(cluster, sessions, false)) out.print(line)
  const verb = flags.restart === true ? 'Update and restart' : `${action.charAt(0).toUpperCase()}${action.slice(1)}`
  const answer = flags.yes || (await confirm(`${verb} ${counted(sessions.length, 'agent')}?`))
  if (answer === undefined) {
    throw new CommandError('BadArgument', `sessions ${action} cannot ask, since the input is no terminal: add --yes`)
  }
  if (!answer) {
    err.print('Nothing was asked of any agent.')
    return 1
  }
  const codes: number[] = []
  for (const each of planned) codes.push(await send(cluster, action, each, flags))
  return Math.max(...codes)
}

/** @throws CommandError `BadArgument` without sessions or with two ways to name them, `NotFound` for an unknown one */
async function planCommands(
  cluster: Cluster,
  args: readonly string[],
  selector: string | undefined,
): Promise<readonly PlannedCommand[]> {
  const { namespace } = cluster
  const isSelected = selector !== undefined && selector.trim() !== ''
  if (isSelected === args.length > 0) {
    const message = 'name the sessions, or select them by their labels with -l KEY=VALUE; one of both'
    throw new CommandError('BadArgument', message, `culvert sessions list -n ${namespace}`)
  }
  if (!isSelected) {
    const shown = await sessionsIn(cluster, namespace, undefined)
    return args.map((arg) => {
      const session = sessionNamed(arg, shown, namespace)
      const target = { type: 'Session', sessionRef: { name: session.metadata.name } }
      return { sessions: [session], spec: { target } }
    })
  }
  const target = { type: 'Selector', selector: selectorOf(selector) }
  const byAccount = Map.groupBy(await sessionsIn(cluster, namespace, selector), accountText)
  return [...byAccount.values()].map((sessions) => {
    return { sessions, spec: { target, accountRef: sessions[0]?.status?.accountRef } }
  })
}

/** @throws CommandError `BadArgument` naming the part that is no requirement */
function selectorOf(text: string): LabelSelector {
  const parsed = parseLabelSelector(text)
  if ('problem' in parsed) throw new CommandError('BadArgument', parsed.problem)
  return parsed
}

/** The session with this name or id, or the only one whose name begins like this, as narrow tables show it. */
function sessionNamed(arg: string, shown: readonly ShownSession[], namespace: string): ShownSession {
  const start = arg.replace(/…$/, '')
  const begun = shown.filter(({ metadata }) => metadata.name.startsWith(start))
  const exact = shown.find(({ metadata, status }) => metadata.name === arg || status?.id === arg)
  const found = exact ?? (begun.length === 1 ? begun[0] : undefined)
  if (found !== undefined) return found
  const message =
    begun.length > 1
      ? `the names of ${begun.length} sessions begin with ${JSON.stringify(start)}: write more of it`
      : `no session ${JSON.stringify(arg)} is online in namespace ${namespace}`
  throw new CommandError('NotFound', message, `culvert sessions list -n ${namespace}`)
}

function accountText({ status }: ShownSession): string {
  return `${status?.accountRef?.kind}/${status?.accountRef?.name}`
}

async function send(
  cluster: Cluster,
  action: SessionAction,
  { sessions, spec }: PlannedCommand,
  flags: ActionFlags,
): Promise<number> {
  const { kinds, kube, namespace, out } = cluster
  const resource = commandNamed(kinds.commands, `${action}-${systemRandom.hex(4)}`, namespace)
  const object = await kube.create<StatedResource>(resourceTypeOf(resource.descriptor), resource, {
    spec: { ...spec, action: actionOf(action, flags), ttlAfterFinished: flags.ttl },
  })
  const summary = `${argumentText(resource)}: asked ${counted(sessions.length, 'agent')} to ${action}`
  for (const line of wrap(summary, out.width, '  ')) out.print(line)
  if (!flags.wait) return 0
  const code = await followRequest(cluster, { verb: 'command', resource, object, summary }, flags.timeout)
  for (const line of await resultLines(cluster, resource)) out.print(line)
  return code
}

function actionOf(action: SessionAction, { restart }: ActionFlags): string {
  if (action === 'update') return restart === true ? 'UpdateAndRestart' : 'Update'
  return action === 'restart' ? 'Restart' : 'Stop'
}

function commandNamed(commands: readonly Descriptor[], name: string, namespace: string): ResourceArgument {
  const [descriptor] = commands
  if (descriptor === undefined) throw new Error('there is no kind of command')
  return { descriptor, name, namespace }
}

const COLUMNS = [
  { heading: 'SESSION', shrinksTo: 12 },
  { heading: 'ACTION' },
  { heading: 'STATE' },
  { heading: 'NEW ID' },
  { heading: 'MESSAGE', wraps: true },
] as const

/** What came of each action, of each session. */
async function resultLines({ kube, out }: Cluster, resource: ResourceArgument) {
  const found = await kube.get<StatedResource>(resourceTypeOf(resource.descriptor), resource)
  const { targets = [] } = (found?.status ?? {}) as CommandStatus
  const rows = targets.flatMap(({ id, name, newID, actions }) => {
    return actions.map(({ action, state, message }) => {
      return [name ?? id, action, state, newID ?? '', message ?? ''].map((text) => ({ text }))
    })
  })
  return rows.length === 0 ? [] : tableLines(COLUMNS, rows, out.tableWidth)
}
