import { configMapType, secretType } from '../kube/core-types.ts'
import { KubeError } from '../kube/kube-error.ts'
import { labelOf, type Refusal, refusalOf, remedyOf, type SentWrite, sentBy } from '../kube/refused-fields.ts'
import type { KubeClient, KubeObject, ResourceType } from '../kube/types.ts'
import { Poller } from '../runtime/poller.ts'
import type { Watches } from './watches.ts'

/** Counts refused writes by type of object and by field; undefined: the policy names none that could be a label. */
export type OnRefusedWrite = (resource: string, field: string | undefined) => void

/**
 * A client whose errors explain what the admission policy for the operator refuses: `isRefusedWrite`, and a message
 * with the remedy. Each refused field is counted.
 */
export function explainingRefusals(kube: KubeClient, onRefused: OnRefusedWrite): KubeClient {
  const explained = async <T>(write: SentWrite, send: () => Promise<T>): Promise<T> => {
    try {
      return await send()
    } catch (error) {
      const refusal = error instanceof KubeError ? refusalOf(error, write) : undefined
      if (refusal === undefined) throw error
      for (const field of labelsOf(refusal)) onRefused(write.resource, field)
      throw refusedWrite(error as KubeError, refusal)
    }
  }
  return {
    serves: (type) => kube.serves(type),
    get: (type, key, signal) => kube.get(type, key, signal),
    list: (type, options) => kube.list(type, options),
    watch: (type, options) => kube.watch(type, options),
    delete: (...call) => explained({ resource: call[0].plural, body: undefined }, () => kube.delete(...call)),
    create: (...call) => explained(sentBy(call), () => kube.create(...call)),
    mergePatch: (...call) => explained(sentBy(call), () => kube.mergePatch(...call)),
    apply: (...call) => explained(sentBy(call), () => kube.apply(...call)),
  }
}

function labelsOf({ fields }: Refusal): ReadonlySet<string | undefined> {
  return new Set(fields.length === 0 ? [undefined] : fields.map(labelOf))
}

/** It has everything that the first error says, so that no log repeats that as its cause. */
function refusedWrite({ code, message, status, reason }: KubeError, refusal: Refusal): KubeError {
  return new KubeError(code, `${message}: ${remedyOf(refusal)}`, { status, reason, isRefusedWrite: true })
}

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
