import { Command, InvalidArgumentError, Option } from 'commander'
import type { Descriptor } from '../managed/descriptor/descriptor.ts'
import { resourceTypeOf } from '../managed/kinds-registry.ts'
import { writeYaml } from '../util/yaml/write.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { followChanges } from './cluster/follow-changes.ts'
import { readNamed } from './cluster/read-named.ts'
import { findKind, kindNamed, parseResource, type ResourceArgument } from './cluster/resource-argument.ts'
import { addressesOf, type StatedResource, stateOf } from './cluster/resource-state.ts'
import { stopSignal } from './exit.ts'
import { type WatchFlags, watchOption } from './flags.ts'
import { spanText } from './terminal/line.ts'
import { type Cell, type Column, tableOf } from './terminal/table.ts'
import { type NodeState, nodeState, STATES } from './tree/tree-lines.ts'

const FORMATS = ['text', 'wide', 'name', 'yaml', 'json'] as const

/** Flags of `culvert get`. */
export interface GetFlags extends ClusterFlags, WatchFlags {
  readonly allNamespaces: boolean
  readonly selector?: string
  readonly notReady: boolean
  /** States to list. Absent: all. */
  readonly state?: readonly string[]
  /** Name of the account. Absent: all. */
  readonly account?: string
  /** Whether to print headings. Default: true. */
  readonly headers?: boolean
  readonly output: (typeof FORMATS)[number]
}

/** `culvert get`: resources of all kinds in one table, each with its state and what it waits for. */
export function getCommand(): Command {
  const output = new Option('-o, --output <format>', 'wide adds account and id; yaml prints the resources themselves')
  return watchOption(clusterOptions(new Command('get')))
    .description(
      'List resources of all kinds, or of some, in one table: state, since when, address, and what each waits for. ' +
        'TunnelSessions are listed only on request.',
    )
    .argument(
      '[resource...]',
      'kinds, KIND/NAME, or KIND NAME...; a kind may be plural or a short name; default: all kinds',
    )
    .option('-A, --all-namespaces', 'list the resources of all namespaces', false)
    .option('-l, --selector <labels>', 'only resources with these labels, such as app=shop')
    .option('--not-ready', 'only resources that are not Ready', false)
    .option('--state <states>', `only resources in these states, separated by commas: ${STATES.join(', ')}`, states)
    .option('--account <name>', 'only resources of the Account or ClusterAccount of this name')
    .option('--no-headers', 'print no headings')
    .addOption(output.choices(FORMATS).default('text'))
    .addHelpText(
      'after',
      '\nExamples:\n  culvert get -n web\n  culvert get edges,backends -o wide\n  culvert get edge shop -o yaml\n' +
        '  culvert get --all-namespaces --not-ready --watch\n',
    )
    .action((args: readonly string[], flags: GetFlags) => {
      const stop = flags.watch === true ? stopSignal() : undefined
      return askCluster(flags, (cluster) => runGet(cluster, args, flags, stop))
    })
}

function states(value: string): readonly string[] {
  return value.split(',').map((each) => {
    const found = STATES.find((state) => state.toLowerCase() === each.toLowerCase())
    if (found === undefined) throw new InvalidArgumentError(`${each} is none of ${STATES.join(', ')}`)
    return found
  })
}

/**
 * @param stop ends `--watch`
 * @returns the exit code of the process
 */
export async function runGet(
  cluster: Cluster,
  args: readonly string[],
  flags: GetFlags,
  stop?: AbortSignal,
): Promise<number> {
  const { out } = cluster
  const asked = askedFor(cluster, args)
  const found = await read(cluster, asked, flags)
  const rows = found.map((resource) => rowOf(cluster, resource)).filter((row) => isListed(row, flags))
  const listing = new Listing(cluster, flags, rows)
  listing.print()
  if (rows.length === 0 && (flags.output === 'text' || flags.output === 'wide')) {
    out.print(found.length === 0 ? 'There are no such resources.' : 'All of them are Ready.')
  }
  if (stop !== undefined) await watch(cluster, { asked, listing, flags }, stop)
  return 0
}

/** What the arguments name: kinds, or single resources. */
type Asked = Descriptor | ResourceArgument

/** @throws CommandError `BadArgument` for what is neither a kind nor a resource */
function askedFor({ kinds, scope }: Cluster, args: readonly string[]): readonly Asked[] {
  if (args.length === 0) return kinds.all.filter(({ role }) => role !== 'mirror')
  const words = args.flatMap((arg) => arg.split(','))
  const [first = '', ...others] = words
  const hasNames = others.some((word) => findKind(word, scope.kinds) === undefined)
  if (hasNames && !words.some((word) => word.includes('/'))) {
    return others.map((name) => parseResource([first, name], scope))
  }
  return words.map((word) => (word.includes('/') ? parseResource([word], scope) : kindNamed(word, scope.kinds)))
}

/** @throws CommandError for a named resource that does not exist */
async function read(cluster: Cluster, asked: readonly Asked[], flags: GetFlags): Promise<readonly StatedResource[]> {
  const lists = asked.map(async (each): Promise<readonly StatedResource[]> => {
    if ('name' in each) return [await readNamed(cluster, each)]
    return cluster.kube.listSelected(resourceTypeOf(each), placeOf(each, flags, cluster.namespace), flags.selector)
  })
  return (await Promise.all(lists)).flat()
}

function placeOf({ definition }: Descriptor, { allNamespaces }: GetFlags, namespace: string): string | undefined {
  return allNamespaces || definition.scope === 'Cluster' ? undefined : namespace
}

interface Row {
  readonly resource: StatedResource
  readonly state: NodeState
  readonly addresses: readonly string[]
  readonly account: string | undefined
  readonly since: string | undefined
}

function rowOf({ kinds }: Cluster, resource: StatedResource): Row {
  const { name } = resource.metadata
  const accountRef = resource.status?.accountRef as { readonly name?: string } | undefined
  return {
    resource,
    state: nodeState({ name, resource }),
    addresses: addressesOf(kinds, resource),
    account: accountRef?.name,
    since: stateOf(resource).since,
  }
}

function isListed({ state: { word }, account }: Row, flags: GetFlags): boolean {
  const isOfState = flags.state === undefined || flags.state.includes(word)
  const isOfAccount = flags.account === undefined || flags.account === account
  return isOfState && isOfAccount && !(flags.notReady && word === 'Ready')
}

/** Prints a row each time that the state of a resource changes, until `stop` is aborted. */
async function watch(
  cluster: Cluster,
  { asked, listing, flags }: { readonly asked: readonly Asked[]; readonly listing: Listing; readonly flags: GetFlags },
  stop: AbortSignal,
): Promise<void> {
  const followed = asked.map((each) => {
    if ('name' in each) return { type: resourceTypeOf(each.descriptor), namespace: each.namespace, name: each.name }
    const namespace = placeOf(each, flags, cluster.namespace)
    return { type: resourceTypeOf(each), namespace, labelSelector: flags.selector }
  })
  const onChange = ({ type, object }: { readonly type: string; readonly object: StatedResource }): void => {
    const row = rowOf(cluster, object)
    if (type === 'deleted') listing.remove(row)
    else if (isListed(row, flags)) listing.set(row)
    else listing.leave(row)
  }
  await followChanges<StatedResource>(cluster, followed, onChange, stop)
}

/** The rows that are listed, and how they are printed. */
class Listing {
  readonly #cluster: Cluster
  readonly #flags: GetFlags
  readonly #rows: Map<string, Row>
  #hasHeading: boolean = false

  constructor(cluster: Cluster, flags: GetFlags, rows: readonly Row[]) {
    this.#cluster = cluster
    this.#flags = flags
    this.#rows = new Map(rows.map((row) => [keyOf(row), row]))
  }

  /** Prints all rows. */
  print(): void {
    const rows = [...this.#rows.values()]
    if (this.#flags.output === 'json' && this.#flags.watch !== true) this.#cluster.out.json(rows.map(jsonOf))
    else this.#print(rows)
  }

  /** Prints a row if it says something else than before. */
  set(row: Row): void {
    const former = this.#rows.get(keyOf(row))
    this.#rows.set(keyOf(row), row)
    const isNew = former === undefined || this.#textOf(former) !== this.#textOf(row)
    if (isNew) this.#print([row])
  }

  /** Prints the last row of a resource that is gone. */
  remove(row: Row): void {
    if (!this.#rows.has(keyOf(row))) return
    const gone: Row = { ...row, state: { word: 'Deleted', style: 'dim', message: undefined } }
    this.#rows.set(keyOf(row), gone)
    this.#print([gone])
    this.#rows.delete(keyOf(row))
  }

  /** Prints the last row of a resource that the flags no longer list. */
  leave(row: Row): void {
    if (!this.#rows.has(keyOf(row))) return
    this.set(row)
    this.#rows.delete(keyOf(row))
  }

  #textOf(row: Row): string {
    const { resource, ...shown } = row
    return JSON.stringify(this.#flags.output === 'yaml' ? resource : shown)
  }

  #print(rows: readonly Row[]): void {
    const { kinds, out } = this.#cluster
    switch (this.#flags.output) {
      case 'json':
        for (const row of rows) out.json(jsonOf(row))
        return
      case 'yaml':
        for (const { resource } of rows) {
          out.write(`${this.#hasHeading ? '---\n' : ''}${writeYaml(withoutManagers(resource))}`)
          this.#hasHeading = true
        }
        return
      case 'name':
        for (const { resource } of rows) {
          const { group, singular } = kinds.descriptor(resource.kind).definition
          out.print(`${singular}.${group}/${resource.metadata.name}`)
        }
        return
      case 'text':
      case 'wide':
        this.#printTable(new Set(rows))
    }
  }

  /** All rows decide the widths of the columns. */
  #printTable(printed: ReadonlySet<Row>): void {
    const { clock, out } = this.#cluster
    const all = [...this.#rows.values()]
    const { columns, cellsOf } = layoutOf(all, this.#flags, { now: clock.now(), width: out.tableWidth })
    const { heading, rows } = tableOf(columns, all.map(cellsOf), out.tableWidth)
    if (!this.#hasHeading && printed.size > 0 && this.#flags.headers !== false) out.print(heading)
    this.#hasHeading ||= printed.size > 0
    for (const [index, lines] of rows.entries()) {
      const row = all[index]
      if (row !== undefined && printed.has(row)) for (const line of lines) out.print(line)
    }
  }
}

function keyOf({ resource: { kind, metadata } }: Row): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
}

function jsonOf({ resource, state, addresses, account, since }: Row): unknown {
  const { kind, metadata, status } = resource
  const { namespace, name } = metadata
  const { word, message } = state
  return { kind, namespace, name, state: word, since, message, addresses, account, id: status?.id }
}

/** As kubectl prints it: who set which field is left out. */
function withoutManagers({ metadata, ...rest }: StatedResource): unknown {
  const { managedFields: _, ...shown } = metadata as typeof metadata & { readonly managedFields?: unknown }
  const { apiVersion, kind, ...content } = rest
  return { apiVersion, kind, metadata: shown, ...content }
}

/** Names that are longer are shortened where there is too little space for them. */
const LONGEST_NAME = 48

/**
 * The columns that these rows need. Addresses have a column of their own where it fits, and otherwise stand before the
 * message, where each is complete.
 */
function layoutOf(
  rows: readonly Row[],
  { allNamespaces, output }: GetFlags,
  { now, width }: { readonly now: number; readonly width: number },
): { readonly columns: readonly Column[]; readonly cellsOf: (row: Row) => readonly Cell[] } {
  const isWide = output === 'wide'
  const name: Column & { text: (row: Row) => Cell } = {
    heading: 'RESOURCE',
    shrinksTo: LONGEST_NAME,
    text: ({ resource: { kind, metadata } }) => ({ text: `${kind}/${metadata.name}` }),
  }
  const fixed: (Column & { text: (row: Row) => Cell })[] = [
    ...(allNamespaces
      ? [{ heading: 'NAMESPACE', text: ({ resource }: Row) => ({ text: resource.metadata.namespace ?? '' }) }]
      : []),
    name,
    { heading: 'STATE', text: ({ state: { word, style } }) => ({ text: word, style }) },
    { heading: 'FOR', text: ({ since }) => ({ text: sinceText(since, now) }) },
    ...(isWide
      ? [
          { heading: 'ACCOUNT', text: ({ account = '' }: Row) => ({ text: account }) },
          { heading: 'ID', text: ({ resource: { status } }: Row) => ({ text: String(status?.id ?? '') }) },
        ]
      : []),
  ]
  const address = { heading: 'ADDRESS', text: ({ addresses }: Row) => ({ text: addressText(addresses) }) }
  const widest = [...fixed, address].map(({ heading, text }) =>
    Math.max(heading.length, ...rows.map((row) => text(row).text.length)),
  )
  const hasAddress = rows.some(({ addresses }) => addresses.length > 0)
  const fits = hasAddress && widest.reduce((sum, each) => sum + each + 2, 0) <= width
  const message = ({ addresses, state }: Row): Cell => {
    const before = fits ? '' : addressText(addresses)
    return { text: [before, state.message ?? ''].filter((text) => text !== '').join(' ') }
  }
  const heading = hasAddress && !fits ? 'ADDRESS, MESSAGE' : 'MESSAGE'
  const columns = [...fixed, ...(fits ? [address] : []), { heading, wraps: true, text: message }]
  return { columns, cellsOf: (row) => columns.map(({ text }) => text(row)) }
}

function addressText([first, ...more]: readonly string[]): string {
  return first === undefined ? '' : `${first}${more.length === 0 ? '' : ` + ${more.length} more`}`
}

function sinceText(since: string | undefined, now: number): string {
  return since === undefined ? '' : spanText(Math.max(0, now - Date.parse(since)))
}
