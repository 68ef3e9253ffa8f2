import { Command } from 'commander'
import type { Descriptor } from '../managed/descriptor/descriptor.ts'
import { resourceTypeOf } from '../managed/kinds-registry.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { kindNamed, parseResource, type ResourceArgument } from './cluster/resource-argument.ts'
import { type StatedResource, stateOf } from './cluster/resource-state.ts'
import { type OutputFlags, outputOption } from './flags.ts'
import { notFound } from './requests/request.ts'
import { spanText } from './terminal/line.ts'
import { tableLines } from './terminal/table.ts'
import { nodeState } from './tree/tree-lines.ts'

/** Flags of `culvert get`. */
export interface GetFlags extends ClusterFlags, OutputFlags {
  readonly allNamespaces: boolean
  readonly selector?: string
  readonly notReady: boolean
}

/** `culvert get`: resources of all kinds in one table, each with its state and what it waits for. */
export function getCommand(): Command {
  return outputOption(clusterOptions(new Command('get')))
    .description(
      'List resources of all kinds, or of some, in one table: how each is, since when, and what it waits for. ' +
        'TunnelSessions are listed if they are named.',
    )
    .argument('[resource...]', 'kinds, or KIND/NAME; a kind may be plural or a short name; default: all kinds')
    .option('-A, --all-namespaces', 'list the resources of all namespaces', false)
    .option('-l, --selector <labels>', 'only those with these labels, such as app=shop')
    .option('--not-ready', 'only those that are not Ready', false)
    .addHelpText(
      'after',
      '\nExamples:\n  culvert get -n web\n  culvert get edges backends\n  culvert get edge/shop\n' +
        '  culvert get --all-namespaces --not-ready\n',
    )
    .action((args: readonly string[], flags: GetFlags) => askCluster(flags, (cluster) => runGet(cluster, args, flags)))
}

/** @returns the exit code of the process */
export async function runGet(cluster: Cluster, args: readonly string[], flags: GetFlags): Promise<number> {
  const { out } = cluster
  const found = await read(cluster, args, flags)
  const rows = found
    .map((resource) => rowOf(cluster, resource))
    .filter(({ word }) => !flags.notReady || word !== 'Ready')
  if (flags.output === 'json') {
    out.json(rows.map(jsonOf))
    return 0
  }
  if (rows.length === 0) out.print(found.length === 0 ? 'There are no such resources.' : 'All of them are Ready.')
  else for (const line of linesOf(cluster, rows, flags.allNamespaces)) out.print(line)
  return 0
}

/** @throws CommandError for what is neither a kind nor a resource, and for a named resource that does not exist */
async function read(cluster: Cluster, args: readonly string[], flags: GetFlags): Promise<readonly StatedResource[]> {
  const { kinds, kube, namespace, scope } = cluster
  const all = kinds.all.filter(({ role }) => role !== 'mirror')
  const asked = args.map((arg) => (arg.includes('/') ? parseResource([arg], scope) : kindNamed(arg, scope.kinds)))
  const lists = (asked.length === 0 ? all : asked).map(async (each): Promise<readonly StatedResource[]> => {
    if ('name' in each) return [await one(cluster, each)]
    return kube.listSelected(resourceTypeOf(each), placeOf(each, flags, namespace), flags.selector)
  })
  return (await Promise.all(lists)).flat()
}

function placeOf({ definition }: Descriptor, { allNamespaces }: GetFlags, namespace: string): string | undefined {
  return allNamespaces || definition.scope === 'Cluster' ? undefined : namespace
}

async function one({ kube }: Cluster, resource: ResourceArgument): Promise<StatedResource> {
  const found = await kube.get<StatedResource>(resourceTypeOf(resource.descriptor), resource)
  if (found === undefined) throw notFound(resource)
  return found
}

interface Row extends ReturnType<typeof nodeState> {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  readonly since: string | undefined
  readonly ms: number | undefined
}

function rowOf({ clock }: Cluster, resource: StatedResource): Row {
  const { kind, metadata } = resource
  const { namespace, name } = metadata
  const { since } = stateOf(resource)
  const ms = since === undefined ? undefined : Math.max(0, clock.now() - Date.parse(since))
  return { kind, namespace, name, since, ms, ...nodeState({ name, resource }) }
}

function jsonOf({ kind, namespace, name, word: state, since, message }: Row): unknown {
  return { kind, namespace, name, state, since, message }
}

function linesOf({ out }: Cluster, rows: readonly Row[], showsNamespace: boolean) {
  const columns = [
    ...(showsNamespace ? [{ heading: 'NAMESPACE' }] : []),
    { heading: 'RESOURCE', shrinksTo: 12 },
    { heading: 'STATE' },
    { heading: 'FOR' },
    { heading: 'MESSAGE', wraps: true },
  ]
  const cells = rows.map(({ kind, namespace, name, word, style, ms, message }) => [
    ...(showsNamespace ? [{ text: namespace ?? '' }] : []),
    { text: `${kind}/${name}` },
    { text: word, style },
    { text: ms === undefined ? '' : spanText(ms) },
    { text: message ?? '' },
  ])
  return tableLines(columns, cells, out.tableWidth)
}
