import type { KubeError } from '../../kube/kube-error.ts'
import type { KubeObject, ResourceType } from '../../kube/types.ts'
import { Reflector } from '../../runtime/reflector.ts'
import type { ObjectEvent } from '../../runtime/replica.ts'
import { createLogger } from '../../util/logger.ts'
import { systemRandom } from '../../util/random.ts'
import type { Cluster } from './ask-cluster.ts'

/** Objects of one type to follow. */
export interface Followed {
  readonly type: ResourceType
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined
  /** Undefined: all objects with these labels and fields. */
  readonly name?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}

/** Failures that no retry ends. */
const LASTING: ReadonlySet<KubeError['code']> = new Set<KubeError['code']>(['Forbidden', 'Unauthorized'])

/**
 * Calls `onChange` for each object that exists, then for each change, until `stop` is aborted. A connection that ends
 * is opened again, as often as necessary.
 *
 * @throws CommandError `Forbidden` or `Unauthorized`
 */
export async function followChanges<T extends KubeObject>(
  { kube, clock }: Pick<Cluster, 'kube' | 'clock'>,
  followed: readonly Followed[],
  onChange: (change: ObjectEvent<T>) => void,
  stop: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const ended = AbortSignal.any([stop, failed.signal])
  const follow = async ({ type, namespace, name, ...selectors }: Followed): Promise<void> => {
    const fieldSelector = name === undefined ? selectors.fieldSelector : `metadata.name=${name}`
    await kube.run({ verb: 'watch', type, namespace, name }, async (client) => {
      let failure: KubeError | undefined
      const reflector = new Reflector<T>({
        client,
        type,
        namespaces: namespace === undefined ? [] : [namespace],
        labelSelector: selectors.labelSelector,
        fieldSelector,
        clock,
        random: systemRandom,
        logger: createLogger('silent'),
        onError: (error) => {
          if (!LASTING.has(error.code)) return
          failure = error
          failed.abort()
        },
      })
      reflector.subscribe(onChange)
      await reflector.start(ended)
      if (failure !== undefined) throw failure
    })
  }
  await Promise.all(followed.map(follow))
}
