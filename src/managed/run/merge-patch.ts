import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import { equalJSON, ownField } from '../../util/json.ts'
import type { Fields } from '../descriptor/common.ts'

type JSONObject = Readonly<Record<string, unknown>>

/**
 * The JSON merge patch (RFC 7396) that turns `before` into `after`; undefined if they are equal. Absent and `undefined`
 * fields of `after` are removed.
 */
export function mergePatch(before: JSONObject, after: JSONObject): JSONObject | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changes = [...names].flatMap((name) => {
    const [from, to] = [ownField(before, name), ownField(after, name)]
    return equalJSON(from, to) ? [] : [[name, change(from, to)] as const]
  })
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

function change(from: unknown, to: unknown): unknown {
  if (to === undefined) return null
  return isObject(from) && isObject(to) ? mergePatch(from, to) : to
}

function isObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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

/**
 * Writes the status of an object on the version from which it was decided, if it differs. Every status that is written
 * as a whole is written here.
 *
 * @param after the entire status; absent and `undefined` fields are removed
 * @returns the object as stored; undefined if nothing was written. @throws as `patchVersion`
 */
export async function writeStatus<T extends KubeObject>(
  kube: Pick<KubeClient, 'mergePatch'>,
  type: ResourceType,
  object: T,
  after: Fields,
): Promise<T | undefined> {
  const patch = mergePatch((object.status ?? {}) as Fields, after)
  return patch === undefined ? undefined : await patchVersion(kube, type, object, { status: patch }, 'status')
}
