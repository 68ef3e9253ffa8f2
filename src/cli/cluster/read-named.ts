import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import type { Cluster } from './ask-cluster.ts'
import { CommandError } from './command-error.ts'
import { argumentText, fullPlural, type ResourceArgument } from './resource-argument.ts'
import type { StatedResource } from './resource-state.ts'
import { mostSimilar } from './similar.ts'

/**
 * The resource that an argument names.
 *
 * @throws CommandError `NotFound`, with the most similar name of the same kind and namespace
 */
export async function readNamed({ kube }: Pick<Cluster, 'kube'>, argument: ResourceArgument): Promise<StatedResource> {
  const found = await kube.get<StatedResource>(resourceTypeOf(argument.descriptor), argument)
  if (found !== undefined) return found
  const similar = mostSimilar(argument.name, await namesOf(kube, argument))
  const suggestion =
    similar === undefined ? '' : `: did you mean ${argument.descriptor.definition.singular}/${similar}?`
  const place = argument.namespace === undefined ? '' : ' --all-namespaces'
  const command = `kubectl get ${fullPlural(argument.descriptor)}${place}`
  throw new CommandError('NotFound', `${argumentText(argument)} does not exist${suggestion}`, command)
}

/** Names to compare with; more are not worth waiting for. */
const MOST_NAMES = 500

/** Names of resources of the same kind in the same namespace; none if they may not be listed. */
async function namesOf(kube: Cluster['kube'], { descriptor, namespace }: ResourceArgument): Promise<readonly string[]> {
  try {
    const { items } = await kube.list(resourceTypeOf(descriptor), { namespace, limit: MOST_NAMES })
    return items.map(({ metadata }) => metadata.name)
  } catch (error) {
    if (error instanceof CommandError && error.code === 'Forbidden') return []
    throw error
  }
}
