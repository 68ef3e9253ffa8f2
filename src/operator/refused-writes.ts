import { KubeError } from '../kube/errors.ts'
import { labelOf, type Refusal, refusalOf, remedyOf, type SentWrite } from '../kube/refused-fields.ts'
import type { KubeClient } from '../kube/types.ts'

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
    delete: (type, key, options) => {
      return explained({ resource: type.plural, body: undefined }, () => kube.delete(type, key, options))
    },
    create: (type, key, body) => explained({ resource: type.plural, body }, () => kube.create(type, key, body)),
    mergePatch: (type, key, body, options) => {
      return explained({ resource: type.plural, body }, () => kube.mergePatch(type, key, body, options))
    },
    apply: (type, key, body, options) => {
      return explained({ resource: type.plural, body }, () => kube.apply(type, key, body, options))
    },
  }
}

function labelsOf({ fields }: Refusal): ReadonlySet<string | undefined> {
  return new Set(fields.length === 0 ? [undefined] : fields.map(labelOf))
}

function refusedWrite(cause: KubeError, refusal: Refusal): KubeError {
  const { code, message, status, reason } = cause
  return new KubeError(code, `${message}: ${remedyOf(refusal)}`, { status, reason, isRefusedWrite: true, cause })
}
