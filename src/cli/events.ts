import { Command } from 'commander'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { type CulvertEvent, culvertEvents } from './cluster/events-about.ts'
import { type OutputFlags, outputOption } from './cluster/output.ts'
import { parseResource } from './cluster/resource-argument.ts'
import { duration } from './flags.ts'
import { tableLines } from './terminal/table.ts'

/** Flags of `culvert events`. */
export interface EventsFlags extends ClusterFlags, OutputFlags {
  readonly allNamespaces: boolean
  readonly since?: number
}

/** `culvert events`: what Culvert did, and why. */
export function eventsCommand(): Command {
  return outputOption(clusterOptions(new Command('events')))
    .description(
      'Show what Culvert did and found out, from its Events, oldest first. Kubernetes keeps them for an hour.',
    )
    .argument('[resource...]', 'KIND/NAME, or KIND NAME; default: everything in the namespace')
    .option('-A, --all-namespaces', 'show the Events of all namespaces', false)
    .option('--since <time>', 'only those of this time, such as 10m', duration)
    .addHelpText(
      'after',
      '\nExamples:\n  culvert events -n web\n  culvert events edge/shop\n  culvert events --all-namespaces --since 10m\n',
    )
    .action((args: readonly string[], flags: EventsFlags) => {
      return askCluster(flags, (cluster) => runEvents(cluster, args, flags))
    })
}

/** Events about what has no namespace. */
const CLUSTER_SCOPE_NAMESPACE = 'default'

/** @returns the exit code of the process */
export async function runEvents(cluster: Cluster, args: readonly string[], flags: EventsFlags): Promise<number> {
  const { clock, kube, out, scope } = cluster
  const resource = args.length === 0 ? undefined : parseResource(args, scope)
  const namespace = resource === undefined ? cluster.namespace : (resource.namespace ?? CLUSTER_SCOPE_NAMESPACE)
  const found = await culvertEvents(kube, {
    namespace: flags.allNamespaces ? undefined : namespace,
    ...(resource === undefined
      ? {}
      : { regarding: { kind: resource.descriptor.definition.kind, name: resource.name } }),
  })
  const from = flags.since === undefined ? Number.NEGATIVE_INFINITY : clock.now() - flags.since
  const events = found.filter(({ at }) => Date.parse(at) >= from)
  if (flags.output === 'json') out.print(JSON.stringify(events, null, 2))
  else if (events.length === 0) out.print('There are no Events of Culvert.')
  else for (const line of linesOf(cluster, events)) out.print(line)
  return 0
}

const COLUMNS = [
  { heading: 'TIME' },
  { heading: 'REASON' },
  { heading: 'OBJECT', shrinksTo: 12 },
  { heading: 'NOTE', wraps: true },
] as const

function linesOf({ namespace, out }: Cluster, events: readonly CulvertEvent[]): readonly string[] {
  const rows = events.map(({ at, note, reason, regarding, type }) => [
    { text: at.replace(/\.\d+Z$/, 'Z') },
    { text: reason, paint: (text: string) => (type === 'Warning' ? out.styled('yellow', text) : text) },
    { text: objectText(regarding, namespace) },
    { text: note },
  ])
  return tableLines(COLUMNS, rows, out.width)
}

function objectText({ kind, namespace, name }: CulvertEvent['regarding'], shown: string): string {
  return namespace === undefined || namespace === shown ? `${kind}/${name}` : `${kind} ${namespace}/${name}`
}
