import { configMapType, secretType } from '../kube/core-types.ts'
import type { KubeClient, KubeObject, ResourceType } from '../kube/types.ts'
import { Poller } from '../runtime/poller.ts'
import type { Watches } from './watches.ts'

/** A client whose writes of Secrets and ConfigMaps are known at once even where these are not watched. */
export function notingWrites(kube: KubeClient, { secrets, configMaps }: Watches): KubeClient {
  const pollers = [secrets, configMaps].map((source) => (source instanceof Poller ? source : undefined))
  if (pollers.every((poller) => poller === undefined)) return kube
  const noted = <T extends KubeObject>({ group, plural }: ResourceType, object: T): T => {
    const at = [secretType, configMapType].findIndex((type) => type.group === group && type.plural === plural)
    pollers[at]?.note(object)
    return object
  }
  return {
    serves: (type) => kube.serves(type),
    get: (type, key, signal) => kube.get(type, key, signal),
    list: (type, options) => kube.list(type, options),
    watch: (type, options) => kube.watch(type, options),
    delete: (type, key, options) => kube.delete(type, key, options),
    create: async (...call) => noted(call[0], await kube.create(...call)),
    mergePatch: async (type, key, patch, options) => noted(type, await kube.mergePatch(type, key, patch, options)),
    apply: async (type, key, object, options) => noted(type, await kube.apply(type, key, object, options)),
  }
}
