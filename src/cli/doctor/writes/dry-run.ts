import { KubeError } from '../../../kube/kube-error.ts'
import { type SentWrite, sentBy } from '../../../kube/refused-fields.ts'
import type { KubeClient, KubeObject } from '../../../kube/types.ts'

/** A write that the API server did not accept. */
export interface FailedWrite {
  readonly write: SentWrite
  readonly error: KubeError
}

/** How every call of a caller is refused who may not impersonate the operator. */
const MAY_NOT_IMPERSONATE = / cannot impersonate resource /

/**
 * A client for the operator's own code that stores nothing: each write is a dry run, and nothing exists yet. What fails
 * is noted, and counts as stored all the same, so that everything is tried.
 */
export class DryRun {
  readonly failures: FailedWrite[] = []
  readonly #kube: Pick<KubeClient, 'create' | 'mergePatch'>

  constructor(kube: Pick<KubeClient, 'create' | 'mergePatch'>) {
    this.#kube = kube
  }

  readonly get = (): Promise<undefined> => Promise.resolve(undefined)

  readonly delete = (): Promise<false> => Promise.resolve(false)

  readonly create: KubeClient['create'] = <T extends KubeObject>(...call: Parameters<KubeClient['create']>) => {
    const [type, key, body] = call
    return this.#noted<T>(sentBy(call), () => this.#kube.create<T>(type, key, body, { dryRun: true }))
  }

  readonly mergePatch: KubeClient['mergePatch'] = <T extends KubeObject>(
    ...call: Parameters<KubeClient['mergePatch']>
  ) => {
    const [type, key, patch, options] = call
    return this.#noted<T>(sentBy(call), () => this.#kube.mergePatch<T>(type, key, patch, { ...options, dryRun: true }))
  }

  /** As `create`: the object does not exist. */
  readonly apply: KubeClient['apply'] = (type, key, object) => this.create(type, key, object)

  async #noted<T>(write: SentWrite, send: () => Promise<T>): Promise<T> {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof KubeError) || MAY_NOT_IMPERSONATE.test(error.message)) throw error
      this.failures.push({ write, error })
      return write.body as T
    }
  }
}
