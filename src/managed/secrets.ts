import { fingerprint } from '../api/fingerprint.ts'
import type { KubeClient, KubeObject, ResourceType } from '../kube/types.ts'
import type { CustomResource } from './cr.ts'
import { WaitError } from './errors.ts'
import { reasons } from './reasons.ts'
import type { SecretKeyRef } from './types/common.ts'
import type { ManagedDescriptor } from './types/descriptor.ts'

export const secretType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
}

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/** A Secret that changes wakes the CRs that read it; this is only the fallback. */
const FALLBACK_MS = 60_000

/** Values of a CR's secret inputs. They live as long as one reconcile. */
export interface SecretInputs {
  get(ref: SecretKeyRef): string
  /** Changes when one of the values does; undefined when there are none. */
  readonly fingerprint: string | undefined
}

/**
 * Reads one key of a Secret.
 * @returns the value, or undefined when the Secret or the key does not exist.
 */
export async function readSecretKey(
  kube: KubeClient,
  namespace: string,
  ref: SecretKeyRef,
): Promise<string | undefined> {
  const secret = await kube.get<Secret>(secretType, { namespace, name: ref.name })
  const encoded = secret?.data?.[ref.key]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8')
}

/** Reads the secret inputs of a CR. @throws WaitError naming field, Secret and key when one is missing. */
export async function readSecretInputs(
  kube: KubeClient,
  descriptor: ManagedDescriptor,
  cr: CustomResource,
): Promise<SecretInputs> {
  const values = new Map<string, string>()
  for (const { path, ref } of descriptor.secretInputs(cr.spec)) {
    const value = await readSecretKey(kube, cr.metadata.namespace ?? '', ref)
    if (value === undefined) {
      const remedy = `create it, or correct the reference`
      throw new WaitError(
        reasons.SecretMissing,
        `${path}: Secret ${ref.name} with key ${ref.key} does not exist: ${remedy}`,
        FALLBACK_MS,
      )
    }
    values.set(keyOf(ref), value)
  }
  return {
    fingerprint: values.size === 0 ? undefined : fingerprint(JSON.stringify([...values]), cr.metadata.uid),
    get: (ref) => {
      const value = values.get(keyOf(ref))
      if (value === undefined) throw new Error(`secret input ${keyOf(ref)} was not declared by the descriptor`)
      return value
    },
  }
}

function keyOf({ name, key }: SecretKeyRef): string {
  return `${name}/${key}`
}
