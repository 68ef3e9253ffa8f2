import { configMapType, secretType } from '../../kube/core-types.ts'
import type { KubeClient, KubeObject } from '../../kube/types.ts'
import { ownField } from '../../util/json.ts'
import type { CustomResource } from '../cr.ts'
import type { InputSource, KeyRef } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { Fingerprints } from '../run/fingerprints.ts'
import { singleLine, singleLineProblem } from './single-line.ts'

/** Reads the inputs of a spec from Secrets and ConfigMaps. */

interface Holder extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

/** A change to a Secret or ConfigMap wakes the CRs that read it; this is only the fallback. */
const FALLBACK_MS = 60_000

/** Values of a CR's inputs from Secrets and ConfigMaps. They are kept for one reconcile only. */
export interface ResolvedInputs {
  get(source: InputSource, ref: KeyRef): string
  /** What is wrong with values that have to be one line, by field, object and key. */
  readonly problems: readonly string[]
  /** Changes when one of the values does; undefined if there are none. */
  readonly fingerprint: string | undefined
}

/**
 * Reads one key of a Secret.
 * @returns the value, or undefined if the Secret or the key does not exist.
 */
export async function readSecretKey(
  kube: Pick<KubeClient, 'get'>,
  namespace: string,
  ref: KeyRef,
): Promise<string | undefined> {
  const secret = await kube.get<Holder>(secretType, { namespace, name: ref.name })
  return decoded(ownField(secret?.data, ref.key))
}

async function readConfigMapKey(kube: KubeClient, namespace: string, ref: KeyRef): Promise<string | undefined> {
  const map = await kube.get<Holder>(configMapType, { namespace, name: ref.name })
  return ownField(map?.data, ref.key) ?? decoded(ownField(map?.binaryData, ref.key))
}

function decoded(value: string | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8')
}

/** Dependencies of `readInputs`. */
export interface InputReader {
  readonly kube: KubeClient
  readonly fingerprints: Fingerprints
}

/**
 * Reads the inputs of a CR. Values lose the line break at their end, unless the input is `multiline`.
 *
 * @throws WaitError naming field, object and key if one is missing.
 */
export async function readInputs(
  { kube, fingerprints }: InputReader,
  descriptor: ManagedDescriptor,
  cr: CustomResource,
): Promise<ResolvedInputs> {
  const namespace = cr.metadata.namespace ?? ''
  const values = new Map<string, string>()
  const problems: string[] = []
  for (const { path, source, ref, multiline } of descriptor.inputs?.of(cr.spec) ?? []) {
    const read = source === 'Secret' ? readSecretKey : readConfigMapKey
    const value = await read(kube, namespace, ref)
    if (value === undefined) {
      throw new WaitError(
        source === 'Secret' ? reasons.SecretMissing : reasons.ConfigMapMissing,
        `${path}: ${source} ${ref.name} with key ${ref.key} does not exist: create it, or correct the reference`,
        FALLBACK_MS,
      )
    }
    const problem = multiline ? undefined : singleLineProblem(value, source, ref)
    if (problem !== undefined) problems.push(`${path}: ${problem}`)
    values.set(keyOf(source, ref), multiline ? value : singleLine(value))
  }
  return {
    problems,
    // The UID is included so that equal values in two resources have different fingerprints: otherwise authors could
    // test guesses in resources of their own.
    fingerprint:
      values.size === 0 ? undefined : fingerprints.of('inputs', cr.metadata.uid, JSON.stringify([...values])),
    get: (source, ref) => {
      const value = values.get(keyOf(source, ref))
      if (value === undefined) throw new Error(`input ${keyOf(source, ref)} was not declared by the descriptor`)
      return value
    },
  }
}

function keyOf(source: InputSource, { name, key }: KeyRef): string {
  return `${source}/${name}/${key}`
}
