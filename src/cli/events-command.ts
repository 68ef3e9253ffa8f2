import { createReadStream } from 'node:fs'
import { Command } from 'commander'
import { LINE_BYTES, splitLines } from '../kube/streams.ts'
import { events as rawEvents } from '../runtime/events.ts'
import type { ObjectEvent } from '../runtime/replica.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { type AuditQuery, auditedRequests, requestsIn } from './cluster/audit-records.ts'
import { CommandError } from './cluster/command-error.ts'
import {
  byTime,
  type CulvertEvent,
  culvertEvents,
  type EventQuery,
  eventOf,
  eventSelector,
  type RawEvent,
} from './cluster/events-about.ts'
import { followChanges } from './cluster/follow-changes.ts'
import { leaderOf, type OperatorFlags, operatorNamespaceOf, operatorOptions } from './cluster/operator-lease.ts'
import { parseResource } from './cluster/resource-argument.ts'
import { stopSignal } from './exit.ts'
import { duration, type OutputFlags, outputOption, type WatchFlags, watchOption } from './flags.ts'
import { tableOf } from './terminal/table.ts'

/** Flags of `culvert events`. */
export interface EventsFlags extends ClusterFlags, OutputFlags, OperatorFlags, WatchFlags {
  readonly allNamespaces: boolean
  readonly since?: number
  readonly auditLog?: string
}

/** `culvert events`: what Culvert did, and why. */
export function eventsCommand(): Command {
  return watchOption(outputOption(operatorOptions(clusterOptions(new Command('events')))))
    .description(
      'Show what Culvert did, oldest first: its Events, which Kubernetes keeps for an hour, and, if you ' +
        'are allowed to read the logs of its Pods, the audit record of each request to the API. ' +
        '--watch continues with new Events, without audit records.',
    )
    .argument('[resource...]', 'KIND/NAME, or KIND NAME; default: everything in the namespace')
    .option('-A, --all-namespaces', 'show the Events of all namespaces', false)
    .option(
      '--since <time>',
      'only the last period, such as 10m (default: all Events, and the requests of 1h)',
      duration,
    )
    .option('--audit-log <file>', 'read the audit records from this file instead; - is standard input')
    .addHelpText(
      'after',
      '\nExamples:\n  culvert events -n web\n  culvert events edge/shop --watch\n' +
        '  culvert events --all-namespaces --since 10m\n' +
        '  kubectl logs -n culvert-system deploy/culvert | culvert events edge/shop --audit-log -\n',
    )
    .action((args: readonly string[], flags: EventsFlags) => {
      const stop = flags.watch === true ? stopSignal() : undefined
      return askCluster(flags, (cluster) => runEvents(cluster, args, flags, stop))
    })
}

/** Events about what has no namespace. */
const CLUSTER_SCOPE_NAMESPACE = 'default'

/** Audit records of so many milliseconds are read by default: as long as most clusters keep Events. */
const RECORDS_MS = 3_600_000

/**
 * @param stop ends `--watch`
 * @returns the exit code of the process
 */
export async function runEvents(
  cluster: Cluster,
  args: readonly string[],
  flags: EventsFlags,
  stop?: AbortSignal,
): Promise<number> {
  const { clock, kube, out, scope } = cluster
  const resource = args.length === 0 ? undefined : parseResource(args, scope)
  const namespace = resource === undefined ? cluster.namespace : (resource.namespace ?? CLUSTER_SCOPE_NAMESPACE)
  const query: EventQuery = {
    namespace: flags.allNamespaces ? undefined : namespace,
    ...(resource === undefined
      ? {}
      : { regarding: { kind: resource.descriptor.definition.kind, name: resource.name } }),
  }
  const found = await Promise.all([
    culvertEvents(kube, query),
    flags.auditLog === undefined
      ? recordedRequests(cluster, flags, { ...query, sinceMs: flags.since ?? RECORDS_MS })
      : requestsIn(linesOfFile(flags.auditLog), query),
  ])
  const from = flags.since === undefined ? Number.NEGATIVE_INFINITY : clock.now() - flags.since
  const events = found
    .flatMap((each) => each ?? [])
    .filter(({ at }) => Date.parse(at) >= from)
    .sort(byTime)
  if (flags.output === 'json' && stop === undefined) out.json(events)
  else if (events.length === 0) out.print('There are no Events or audit records of Culvert.')
  else printEvents(cluster, events, { ...flags, from: 0 })
  if (stop !== undefined) await watch(cluster, { query, flags, events }, stop)
  return 0
}

/** Prints further Events until `stop` is aborted. */
async function watch(
  cluster: Cluster,
  watched: { readonly query: EventQuery; readonly flags: EventsFlags; readonly events: readonly CulvertEvent[] },
  stop: AbortSignal,
): Promise<void> {
  const { query, flags } = watched
  const from = cluster.clock.now() - (flags.since ?? Number.POSITIVE_INFINITY)
  const printed = [...watched.events]
  const seen = new Set(printed.map((event) => JSON.stringify(event)))
  const followed = { type: rawEvents, namespace: query.namespace, fieldSelector: eventSelector(query) }
  const onChange = ({ type, object }: ObjectEvent<RawEvent>): void => {
    const event = eventOf(object)
    if (type === 'deleted' || Date.parse(event.at) < from || seen.has(JSON.stringify(event))) return
    seen.add(JSON.stringify(event))
    printed.push(event)
    printEvents(cluster, printed, { ...flags, from: printed.length - 1 })
  }
  await followChanges(cluster, [followed], onChange, stop)
}

/** Prints the Events from an index on. All of them decide the widths of the columns. */
function printEvents(
  cluster: Cluster,
  events: readonly CulvertEvent[],
  { output, from }: OutputFlags & { readonly from: number },
): void {
  const { out } = cluster
  if (output === 'json') {
    for (const event of events.slice(from)) out.json(event)
    return
  }
  const { heading, rows } = tableOf(COLUMNS, rowsOf(cluster, events), out.tableWidth)
  for (const line of [...(from === 0 ? [heading] : []), ...rows.slice(from).flat()]) out.print(line)
}

async function recordedRequests(
  { kube, clock }: Cluster,
  flags: EventsFlags,
  query: AuditQuery,
): Promise<readonly CulvertEvent[] | undefined> {
  const namespace = operatorNamespaceOf(flags, await leaderOf(kube, clock, flags))
  return auditedRequests(kube, { namespace, release: flags.release }, query)
}

/** @throws CommandError `BadArgument` if it cannot be read */
async function* linesOfFile(path: string): AsyncGenerator<string> {
  try {
    yield* splitLines(path === '-' ? process.stdin : createReadStream(path), LINE_BYTES)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new CommandError('BadArgument', `--audit-log ${path}: ${error.message}`)
  }
}

const COLUMNS = [
  { heading: 'TIME' },
  { heading: 'REASON' },
  { heading: 'OBJECT', shrinksTo: 12 },
  { heading: 'NOTE', wraps: true },
] as const

function rowsOf({ namespace }: Cluster, events: readonly CulvertEvent[]) {
  return events.map(({ at, note, reason, regarding, type }) => [
    { text: at.replace(/\.\d+Z$/, 'Z') },
    { text: reason, ...(type === 'Warning' ? { style: 'yellow' as const } : {}) },
    { text: objectText(regarding, namespace) },
    { text: note },
  ])
}

function objectText({ kind, namespace, name }: CulvertEvent['regarding'], shown: string): string {
  return namespace === undefined || namespace === shown ? `${kind}/${name}` : `${kind} ${namespace}/${name}`
}
