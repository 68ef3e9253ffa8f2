import { KubeError } from './kube-error.ts'
import type { KubeClient, KubeObject, ResourceType } from './types.ts'

const PAGE = 500

/**
 * Every object of a type, read page by page, in these namespaces or, if none are given, in all. Without the type's CRD
 * there are none.
 */
export async function listAll<T extends KubeObject>(
  kube: Pick<KubeClient, 'list' | 'serves'>,
  type: ResourceType,
  namespaces: readonly string[],
): Promise<readonly T[]> {
  const scopes = type.namespaced && namespaces.length > 0 ? namespaces : [undefined]
  const found: T[] = []
  for (const namespace of scopes) {
    try {
      let page = await kube.list<T>(type, { namespace, limit: PAGE })
      found.push(...page.items)
      while (page.continue !== undefined) {
        page = await kube.list<T>(type, { namespace, limit: PAGE, continue: page.continue })
        found.push(...page.items)
      }
    } catch (error) {
      // A proxy may have answered the 404, which says nothing about the objects.
      if (!(error instanceof KubeError) || error.code !== 'NotFound' || (await kube.serves(type))) throw error
    }
  }
  return found
}
