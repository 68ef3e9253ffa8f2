import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import { parseResource } from '../cluster/resource-argument.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import { notFound } from '../requests/request.ts'
import { type Rooted, readAll, readNeeds, readUsers } from './read-graph.ts'

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
  const { kube, namespace, scope } = cluster
  const namespaces = allNamespaces ? [] : [namespace]
  if (args.length === 0) {
    if (!reverse) return readAll(cluster, namespaces)
    throw new CommandError('BadArgument', '--reverse needs a resource', `culvert ${command} KIND/NAME --reverse`)
  }
  const argument = parseResource(args, scope)
  const asked = await kube.get<StatedResource>(resourceTypeOf(argument.descriptor), argument)
  if (asked === undefined) throw notFound(argument)
  return reverse ? readUsers(cluster, asked, namespaces) : readNeeds(cluster, asked)
}

/** Says that there is nothing to show, in a namespace or in all. */
export function noneText(namespace: string | undefined): string {
  return namespace === undefined ? 'There are no resources.' : `There are no resources in namespace ${namespace}.`
}
