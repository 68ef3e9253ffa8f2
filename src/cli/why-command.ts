import { Command } from 'commander'
import type { ObjectKey } from '../kube/types.ts'
import { isDeleting, nameOf, nameText, type ResourceName } from '../managed/cr.ts'
import { serviceType } from '../managed/services/service.ts'
import type { ObjectEvent } from '../runtime/replica.ts'
import { accountAbout } from './cluster/account-access.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { auditedRequests } from './cluster/audit-records.ts'
import { type CulvertEvent, type EventQuery, eventsIfQuick } from './cluster/events-about.ts'
import { followChanges } from './cluster/follow-changes.ts'
import { readLive } from './cluster/live-conditions.ts'
import {
  type Leader,
  leaderOf,
  type OperatorFlags,
  operatorNamespaceOf,
  operatorOf,
  operatorOptions,
} from './cluster/operator-lease.ts'
import { readNamed } from './cluster/read-named.ts'
import { parseResource, type ResourceArgument } from './cluster/resource-argument.ts'
import { type StatedResource, stateOf } from './cluster/resource-state.ts'
import { readService, serviceNamed } from './cluster/service-argument.ts'
import { Snapshot } from './cluster/snapshot.ts'
import { stopSignal } from './exit.ts'
import { type OutputFlags, outputOption, type WatchFlags, watchOption } from './flags.ts'
import { wrap } from './terminal/line.ts'
import { findCauses, findSides, type Link, linkTo, ownSides, readNeeded } from './why/causes.ts'
import { type Facts, paragraphOf } from './why/paragraph.ts'
import { isService, namedFor, type Remedy, remedyOf, serviceRemedy, sideRemedy } from './why/remedy.ts'

/** Flags of `culvert why`. */
export type WhyFlags = ClusterFlags & OutputFlags & OperatorFlags & WatchFlags

/** `culvert why`: what a resource waits for, and what to do. */
export function whyCommand(): Command {
  return watchOption(outputOption(operatorOptions(clusterOptions(new Command('why')))))
    .description('Explain in one paragraph what a resource waits for, since when, what was tried, and what to do.')
    .argument(
      '<resource...>',
      'KIND/NAME, or KIND NAME; a kind may be plural or a short name; svc/NAME for a Service of type LoadBalancer',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  culvert why edge/shop\n  culvert why edge/shop --watch\n' +
        '  culvert why reserveddomain shop -n web --output json\n',
    )
    .action((args: readonly string[], flags: WhyFlags) => {
      const stop = flags.watch === true ? stopSignal() : undefined
      return askCluster(flags, (cluster) => runWhy(cluster, args, flags, stop))
    })
}

/** Events and audit records are worth this many milliseconds. */
const EVENTS_MS = 1_000
/** Requests of this time are said, in milliseconds. */
const REQUESTS_MS = 3_600_000

/**
 * @param stop ends `--watch`
 * @returns the exit code of the process
 */
export async function runWhy(
  cluster: Cluster,
  args: readonly string[],
  flags: WhyFlags,
  stop?: AbortSignal,
): Promise<number> {
  const argument = serviceNamed(args, cluster.namespace) ?? parseResource(args, cluster.scope)
  let printed: string | undefined
  do {
    const explained = await explain(cluster, argument, flags)
    const { links, sides } = explained.facts
    const shown = JSON.stringify([links.map(({ name, state }) => [name, state]), sides])
    if (shown !== printed) print(cluster, explained, { ...flags, isNext: printed !== undefined })
    printed = shown
    if (stop !== undefined) await changeOf(cluster, links, stop)
  } while (stop !== undefined && !stop.aborted)
  return 0
}

/** What is known about a resource, and what to do. */
interface Explained {
  readonly resource: ResourceName
  readonly facts: Facts
  readonly remedy: Remedy
}

async function explain(cluster: Cluster, argument: ResourceArgument | ObjectKey, flags: WhyFlags): Promise<Explained> {
  const { clock, kinds, kube } = cluster
  const snapshot = new Snapshot(kinds, kube)
  const { asked, parts, links } =
    'descriptor' in argument
      ? await askedOf(cluster, snapshot, argument)
      : await askedService(cluster, snapshot, argument)
  const [first = unlinked(), ...rest] = links
  const root = rest.at(-1) ?? first
  const isWell = root.state?.phase === 'current'
  const regarding = root.resource ?? asked
  const leading = isWell ? Promise.resolve(undefined) : leaderAbout(cluster, snapshot, regarding, flags)
  const needed = isWell ? await readNeeded(snapshot, asked, parts) : []
  const live = await readLive(cluster, snapshot, needed, flags)
  const [operator, events, requests] = await Promise.all([
    leading,
    isWell ? [] : eventsIfQuick(kube, queryAbout(regarding), EVENTS_MS),
    leading.then((found) => found && requestsIfQuick(cluster, found, queryAbout(regarding))),
  ])
  const sides = isWell ? findSides(live.resources) : isDeleting(asked) ? [] : ownSides(asked)
  const leader = operator?.leader
  const { ages } = live
  const facts: Facts = { links: [first, ...rest], sides, ages, events, requests, leader, now: clock.now() }
  const own = isService(root.name)
    ? serviceRemedy(root)
    : remedyOf(root, leader, namedFor(snapshot, root.name), facts.now)
  const remedy = own.text === '' ? sideRemedy(sides, (name) => namedFor(snapshot, name)) : own
  return { resource: nameOf(asked), facts, remedy }
}

/** What was asked about, with what it consists of, and the way to the cause of its state. */
interface Asked {
  readonly asked: StatedResource
  readonly parts: readonly StatedResource[]
  readonly links: readonly Link[]
}

async function askedOf(cluster: Cluster, snapshot: Snapshot, argument: ResourceArgument): Promise<Asked> {
  const asked = await readNamed(cluster, argument)
  return { asked, parts: [], links: await findCauses(snapshot, asked) }
}

/** The cause of a Service that is not reached is in the first part that does not work, or in the Service itself. */
async function askedService(cluster: Cluster, snapshot: Snapshot, key: ObjectKey): Promise<Asked> {
  const { service, parts } = await readService(cluster, key)
  snapshot.hold(parts)
  const link = linkTo(nameOf(service), service, undefined)
  const failing = link.state?.phase === 'current' ? undefined : parts.find((part) => stateOf(part).phase !== 'current')
  const causes = failing === undefined ? [] : await findCauses(snapshot, failing)
  return { asked: service, parts, links: [link, ...causes] }
}

function print(
  { out }: Cluster,
  { resource, facts, remedy }: Explained,
  { output, isNext }: OutputFlags & { readonly isNext: boolean },
): void {
  const paragraph = paragraphOf(facts)
  if (output === 'json') {
    out.json({ resource, paragraph, ...jsonOf(facts), ...remedy })
    return
  }
  if (isNext) out.print('')
  const text = remedy.text === '' ? paragraph : `${paragraph} To do: ${remedy.text}`
  for (const line of wrap(text, out.width)) out.print(line)
  if (remedy.command !== undefined) {
    out.print('')
    out.print(['  ', { text: remedy.command, style: 'bold' }])
  }
}

/** Resolves when one of these resources changes, or `stop` is aborted. */
async function changeOf(cluster: Cluster, links: readonly Link[], stop: AbortSignal): Promise<void> {
  const known = new Map(links.map(({ name, resource }) => [nameText(name), resource?.metadata.resourceVersion]))
  const changed = new AbortController()
  const followed = links
    .filter(({ unreadable }) => unreadable === undefined)
    .map(({ name: each }) => ({
      type: isService(each) ? serviceType : cluster.kinds.resourceType(each.kind),
      namespace: each.namespace,
      name: each.name,
    }))
  const onChange = ({ type, object }: ObjectEvent<StatedResource>): void => {
    const former = known.get(nameText(nameOf(object)))
    if (type === 'deleted' || former !== object.metadata.resourceVersion) changed.abort()
  }
  await followChanges(cluster, followed, onChange, AbortSignal.any([stop, changed.signal]))
}

function unlinked(): never {
  throw new Error('the way to a cause begins with the resource itself')
}

/** An operator, and whether it leads. */
interface FoundOperator {
  readonly flags: OperatorFlags
  readonly leader: Leader
}

/** The operator that has claimed the account of the resource, or else that of the flags. */
async function leaderAbout(
  { clock, kube }: Cluster,
  snapshot: Snapshot,
  resource: StatedResource,
  flags: OperatorFlags,
): Promise<FoundOperator> {
  const [leader, account] = await Promise.all([leaderOf(kube, clock, flags), accountAbout(snapshot, resource)])
  const claimant = operatorOf(account, flags)
  return claimant === flags ? { flags, leader } : { flags: claimant, leader: await leaderOf(kube, clock, claimant) }
}

function requestsIfQuick(
  { kube }: Cluster,
  { flags, leader }: FoundOperator,
  query: EventQuery,
): Promise<readonly CulvertEvent[] | undefined> {
  const operator = { namespace: operatorNamespaceOf(flags, leader), release: flags.release }
  const signal = AbortSignal.timeout(EVENTS_MS)
  return auditedRequests(kube, operator, { ...query, sinceMs: REQUESTS_MS, signal })
}

function queryAbout({ kind, metadata: { namespace, name, uid } }: StatedResource) {
  // Events about objects without a namespace are in `default`.
  return { namespace: namespace ?? 'default', regarding: { kind, name, uid } }
}

/** The facts for programs: docs/cli/why.md. */
function jsonOf({ links, events, requests, leader }: Facts) {
  return {
    causes: links.map(({ by, name, state, unreadable }: Link) => ({
      ...name,
      field: by,
      exists: unreadable === undefined ? state !== undefined : undefined,
      ...state,
    })),
    events: events?.map(({ at, note, reason, type }) => ({ at, type, reason, note })),
    requests: requests?.map(({ request }) => request),
    operator: leader?.type,
  }
}
