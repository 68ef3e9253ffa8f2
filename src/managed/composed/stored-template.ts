import type { KubeObject } from '../../kube/types.ts'
import { digestOf } from '../../util/json.ts'
import { mergePatch } from '../run/merge-patch.ts'

type Fields = Readonly<Record<string, unknown>>

/** A Pod template, as far as it is read here. */
interface Template extends Fields {
  readonly metadata?: Fields & { readonly annotations?: Readonly<Record<string, string>> }
}

/** Set on the Pods by `kubectl rollout restart`, the only change of another client that stays. */
export const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt'

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[-+]\d\d:\d\d)$/

/**
 * The Pod template of a Deployment belongs to Culvert, which replaces it as a whole. What the API server and webhooks
 * add to it is known from the answer to that write: any other content is of another client.
 */
export function templateIn({ spec }: Readonly<Record<string, unknown>>): Template | undefined {
  return (spec as { readonly template?: Template } | undefined)?.template
}

/** Digest of the object's Pod template, whenever it was restarted; undefined if it has none. */
export function templateDigest(object: KubeObject | undefined): string | undefined {
  const template = object === undefined ? undefined : templateIn(object)
  if (template === undefined) return undefined
  const { annotations = {}, ...metadata } = template.metadata ?? {}
  const others = Object.entries(annotations).filter(
    ([key]) => key !== RESTARTED_AT || restartOf(template) === undefined,
  )
  return digestOf(
    { ...template, metadata: { ...metadata, ...(others.length === 0 ? {} : { annotations: others }) } },
    16,
  )
}

/** The merge patch that makes exactly the wanted template of the stored one, but for its last restart. */
export function replacingPatch(stored: Template, wanted: Template): Fields {
  const restartedAt = restartOf(stored)
  const { metadata } = wanted
  const restarted =
    restartedAt === undefined
      ? wanted
      : { ...wanted, metadata: { ...metadata, annotations: { ...metadata?.annotations, [RESTARTED_AT]: restartedAt } } }
  return mergePatch(stored, restarted) ?? {}
}

function restartOf({ metadata }: Template): string | undefined {
  const value = metadata?.annotations?.[RESTARTED_AT]
  return value !== undefined && RFC3339.test(value) ? value : undefined
}
