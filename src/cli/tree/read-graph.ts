import { type AccountKey, accountKey, accountText, keyOfAccount } from '../../managed/account-resource.ts'
import { type CustomResource, nameOf, nameText, type ResourceName } from '../../managed/cr.ts'
import type { Descriptor } from '../../managed/descriptor/descriptor.ts'
import { type KindsRegistry, resourceTypeOf } from '../../managed/kinds-registry.ts'
import { accountOf } from '../../managed/references/account-choice.ts'
import { referredName } from '../../managed/references/crossings.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import { readNamed } from '../cluster/read-named.ts'
import { parseResource } from '../cluster/resource-argument.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import { readService, serviceNamed } from '../cluster/service-argument.ts'
import { Snapshot } from '../cluster/snapshot.ts'
import { graphOf, type Node, type ResourceGraph, referencesOf, rootsOf } from './resource-graph.ts'

/** A graph and the nodes to begin at. */
export interface Rooted {
  readonly graph: ResourceGraph
  readonly roots: readonly Node[]
}

/** Everything in these namespaces, or in all if none are given, from what nothing else needs. */
async function readAll(cluster: Cluster, namespaces: readonly string[]): Promise<Rooted> {
  const { kinds } = cluster
  const graph = graphOf(kinds, await listKinds(cluster, kinds.managed, namespaces))
  return { graph, roots: rootsOf(graph, rankOf(kinds)) }
}

/** Kinds that others refer to last: edges, which nothing refers to, come first. */
function rankOf(kinds: KindsRegistry): readonly string[] {
  const uses = ({ definition }: Descriptor): number => kinds.referrersOf(definition.kind).length
  const needs = ({ references }: KindsRegistry['managed'][number]): number => references.kinds.length
  const ordered = kinds.managed.toSorted((left, right) => uses(left) - uses(right) || needs(right) - needs(left))
  return ordered.map(({ definition }) => definition.kind)
}

/** Resources and what they need, each read by its name; and the parts of those that have parts. */
async function readNeeds(cluster: Cluster, asked: readonly StatedResource[]): Promise<ResourceGraph> {
  const { kinds, kube } = cluster
  const snapshot = new Snapshot(kinds, kube)
  const found = new Map<string, StatedResource>(asked.map((each) => [nameText(nameOf(each)), each]))
  let frontier = asked
  while (frontier.length > 0) {
    const needed = frontier.flatMap((resource) => namesNeeded(kinds, resource))
    const read = await Promise.all([
      ...needed.map((name) => snapshot.read(name)),
      ...frontier.map((resource) => readParts(cluster, resource)),
    ])
    frontier = read
      .flat()
      .filter(
        (resource) => resource !== undefined && !found.has(nameText(nameOf(resource))),
      ) as readonly StatedResource[]
    for (const resource of frontier) found.set(nameText(nameOf(resource)), resource)
  }
  return graphOf(kinds, [...found.values()])
}

/** By name, without the wholes of parts: these are above, not below. */
function namesNeeded(kinds: KindsRegistry, resource: StatedResource): readonly ResourceName[] {
  return referencesOf(kinds, resource).flatMap(({ kind, ref, partOf }) => {
    const isNamed = ref.name !== undefined && partOf === undefined
    return isNamed ? [referredName(resource as CustomResource, { kind, ref })] : []
  })
}

/** The parts of a resource in its namespace. */
async function readParts(cluster: Cluster, whole: StatedResource): Promise<readonly StatedResource[]> {
  const { kinds } = cluster
  const { namespace } = whole.metadata
  const parts = (kinds.managedKind(whole.kind)?.whole?.parts ?? []).flatMap((kind) => kinds.managedKind(kind) ?? [])
  const all = await listKinds(cluster, parts, namespace === undefined ? [] : [namespace])
  const id = whole.status?.id
  return all.filter((part) =>
    referencesOf(kinds, part).some(({ kind, ref, partOf }) => {
      if (partOf === undefined || kind !== whole.kind) return false
      if (ref.id !== undefined) return ref.id === id
      return nameText(referredName(part as CustomResource, { kind, ref })) === nameText(nameOf(whole))
    }),
  )
}

/** A resource and what needs it, directly or through others, in these namespaces, or in all if none are given. */
async function readUsers(cluster: Cluster, asked: StatedResource, namespaces: readonly string[]): Promise<Rooted> {
  const { kinds } = cluster
  const isAccount = kinds.accounts.some(({ definition }) => definition.kind === asked.kind)
  const users = isAccount ? kinds.managed : referringKinds(kinds, asked.kind)
  const listed = await listKinds(cluster, users, namespaces)
  const others = listed.filter((resource) => nameText(nameOf(resource)) !== nameText(nameOf(asked)))
  const graph = graphOf(kinds, [asked, ...others])
  return rooted(isAccount ? await withMembers(cluster, graph, asked, others) : graph, asked)
}

/** Kinds whose resources may refer to a kind, directly or through others; and the wholes of a part. */
function referringKinds(kinds: KindsRegistry, kind: string): KindsRegistry['managed'] {
  const found = new Set<string>()
  const add = (each: string): void => {
    const wholes = kinds.managed.filter(({ whole }) => whole?.parts.includes(each))
    const referring = kinds.referrersOf(each).map(({ descriptor }) => descriptor)
    for (const { definition } of [...referring, ...wholes]) {
      if (found.has(definition.kind)) continue
      found.add(definition.kind)
      add(definition.kind)
    }
  }
  add(kind)
  return kinds.managed.filter(({ definition }) => found.has(definition.kind))
}

/** The graph with a line from each member of an account that nothing else needs to the account. */
async function withMembers(
  cluster: Cluster,
  graph: ResourceGraph,
  account: StatedResource,
  resources: readonly StatedResource[],
): Promise<ResourceGraph> {
  const accounts = await listKinds(cluster, cluster.kinds.accounts, namespacesOf(resources))
  const known = new Map([...accounts, ...resources].map((each) => [nameText(nameOf(each)), each]))
  const held = new Set(accounts.map((each) => accountText(keyOfAccount(each))))
  const choices = {
    kinds: cluster.kinds,
    resources: {
      get: (name: ResourceName) => known.get(nameText(name)) as CustomResource | undefined,
      hasAccount: (name: Parameters<typeof accountKey>[0], namespace: string) => {
        return held.has(accountText(accountKey(name, namespace)))
      },
      namespace: () => undefined,
    },
  }
  const key: AccountKey = keyOfAccount(account)
  const members = resources.filter((resource) => {
    const chosen = accountOf(choices, resource as CustomResource)
    return (
      chosen !== undefined && accountText(accountKey(chosen, resource.metadata.namespace ?? '')) === accountText(key)
    )
  })
  const own = nameText(nameOf(account))
  const usedBy = new Map(graph.usedBy)
  usedBy.set(
    own,
    members.map((member) => ({ by: 'account', to: nameText(nameOf(member)) })),
  )
  return { ...graph, usedBy }
}

function namespacesOf(resources: readonly StatedResource[]): readonly string[] {
  return [...new Set(resources.flatMap(({ metadata: { namespace } }) => namespace ?? []))]
}

async function listKinds(
  { kube }: Cluster,
  descriptors: readonly Descriptor[],
  namespaces: readonly string[],
): Promise<readonly StatedResource[]> {
  const lists = descriptors.map((descriptor) => kube.listAll<StatedResource>(resourceTypeOf(descriptor), namespaces))
  return (await Promise.all(lists)).flat()
}

function rooted(graph: ResourceGraph, asked: StatedResource): Rooted {
  const root = graph.nodes.get(nameText(nameOf(asked)))
  return { graph, roots: root === undefined ? [] : [root] }
}

/** What a command that shows a graph was asked for. */
export interface AskedGraph {
  readonly reverse: boolean
  readonly allNamespaces: boolean
  /** Name of the command, for messages. */
  readonly command: string
}

/**
 * Reads the graph that the arguments name: of a resource, or of everything.
 *
 * @throws CommandError `BadArgument` or `NotFound`
 */
export async function readAsked(
  cluster: Cluster,
  args: readonly string[],
  { reverse, allNamespaces, command }: AskedGraph,
): Promise<Rooted> {
  const { namespace, scope } = cluster
  const namespaces = allNamespaces ? [] : [namespace]
  if (args.length === 0) {
    if (!reverse) return readAll(cluster, namespaces)
    throw new CommandError('BadArgument', '--reverse needs a resource', `culvert ${command} KIND/NAME --reverse`)
  }
  const service = serviceNamed(args, namespace)
  if (service !== undefined) {
    if (reverse)
      throw new CommandError('BadArgument', '--reverse: nothing uses a Service', `culvert ${command} svc/NAME`)
    const graph = await readNeeds(cluster, (await readService(cluster, service)).parts)
    return { graph, roots: rootsOf(graph, rankOf(cluster.kinds)) }
  }
  const argument = parseResource(args, scope)
  const asked = await readNamed(cluster, argument)
  return reverse ? readUsers(cluster, asked, namespaces) : rooted(await readNeeds(cluster, [asked]), asked)
}

/** Says that there is nothing to show, in a namespace or in all. */
export function noneText(namespace: string | undefined): string {
  return namespace === undefined ? 'There are no resources.' : `There are no resources in namespace ${namespace}.`
}
