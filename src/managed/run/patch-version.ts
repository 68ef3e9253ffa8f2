import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import type { Fields } from '../descriptor/common.ts'

/**
 * Patches an object, or its status, on the version from which the patch was decided.
 * @returns the object as stored
 * @throws KubeError `Conflict` if another client changed it meanwhile, `NotFound` if it is gone
 */
export function patchVersion<T extends KubeObject>(
  kube: Pick<KubeClient, 'mergePatch'>,
  type: ResourceType,
  { metadata: { namespace, name, uid, resourceVersion } }: T,
  patch: Fields,
  subresource?: 'status',
): Promise<T> {
  const options = { uid, resourceVersion, ...(subresource === undefined ? {} : { subresource }) }
  return kube.mergePatch<T>(type, { namespace, name }, patch, options)
}
