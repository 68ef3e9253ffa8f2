import { createReadStream } from 'node:fs'
import { Command } from 'commander'
import { LINE_BYTES, splitLines } from '../kube/streams.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { type AuditQuery, auditedRequests, requestsIn } from './cluster/audit-records.ts'
import { CommandError } from './cluster/command-error.ts'
import { byTime, type CulvertEvent, culvertEvents, type EventQuery } from './cluster/events-about.ts'
import { leaderOf, type OperatorFlags, operatorNamespaceOf, operatorOptions } from './cluster/operator-lease.ts'
import { parseResource } from './cluster/resource-argument.ts'
import { duration, type OutputFlags, outputOption } from './flags.ts'
import { tableLines } from './terminal/table.ts'

/** Flags of `culvert events`. */
export interface EventsFlags extends ClusterFlags, OutputFlags, OperatorFlags {
  readonly allNamespaces: boolean
  readonly since?: number
  readonly auditLog?: string
}

/** `culvert events`: what Culvert did, and why. */
export function eventsCommand(): Command {
  return outputOption(operatorOptions(clusterOptions(new Command('events'))))
    .description(
      'Show what Culvert did and found out, oldest first: its Events, which Kubernetes keeps for an hour, and where you ' +
        'may read the logs of its Pods, the audit record of each request to the API.',
    )
    .argument('[resource...]', 'KIND/NAME, or KIND NAME; default: everything in the namespace')
    .option('-A, --all-namespaces', 'show the Events of all namespaces', false)
    .option(
      '--since <time>',
      'only what happened in this time, such as 10m (default: all Events, and the requests of 1h)',
      duration,
    )
    .option('--audit-log <file>', 'read the audit records from this file instead; - is standard input')
    .addHelpText(
      'after',
      '\nExamples:\n  culvert events -n web\n  culvert events edge/shop\n  culvert events --all-namespaces --since 10m\n' +
        '  kubectl logs -n culvert-system deploy/culvert | culvert events edge/shop --audit-log -\n',
    )
    .action((args: readonly string[], flags: EventsFlags) => {
      return askCluster(flags, (cluster) => runEvents(cluster, args, flags))
    })
}

/** Events about what has no namespace. */
const CLUSTER_SCOPE_NAMESPACE = 'default'

/** Audit records of so many milliseconds are read by default: as long as most clusters keep Events. */
const RECORDS_MS = 3_600_000

/** @returns the exit code of the process */
export async function runEvents(cluster: Cluster, args: readonly string[], flags: EventsFlags): Promise<number> {
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
  if (flags.output === 'json') out.json(events)
  else if (events.length === 0) out.print('There are neither Events nor audit records of Culvert.')
  else for (const line of linesOf(cluster, events)) out.print(line)
  return 0
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

function linesOf({ namespace, out }: Cluster, events: readonly CulvertEvent[]) {
  const rows = events.map(({ at, note, reason, regarding, type }) => [
    { text: at.replace(/\.\d+Z$/, 'Z') },
    { text: reason, ...(type === 'Warning' ? { style: 'yellow' as const } : {}) },
    { text: objectText(regarding, namespace) },
    { text: note },
  ])
  return tableLines(COLUMNS, rows, out.tableWidth)
}

function objectText({ kind, namespace, name }: CulvertEvent['regarding'], shown: string): string {
  return namespace === undefined || namespace === shown ? `${kind}/${name}` : `${kind} ${namespace}/${name}`
}
