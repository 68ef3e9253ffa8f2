import { ConcurrencyLimit } from '../../kube/concurrency-limit.ts'
import { KubeError, type KubeErrorCode } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts'
import type { Logger } from '../../util/logger.ts'
import type { Fields } from '../descriptor/common.ts'
import { GROUP, VERSION } from '../names.ts'
import type { MirrorCreate, MirrorPlan, MirrorUpdate } from './mirror-plan.ts'

/**
 * Concurrent writes, all mirrors together: less than half of what the client allows, so that thousands of writes delay
 * nothing else.
 */
const CONCURRENCY = 6

/** Errors that concern one object only: the next list handles them. */
const OF_ONE: ReadonlySet<KubeErrorCode> = new Set(['AlreadyExists', 'Conflict', 'Invalid'])

export interface MirrorWriterOptions {
  readonly kube: Pick<KubeClient, 'create' | 'mergePatch' | 'delete'>
  /** Records the response to a write at once, so that the next plan sees it. */
  readonly record: (object: KubeObject) => void
  readonly logger: Logger
}

/** Executes plans of mirrors, a few writes at a time. */
export class MirrorWriter {
  readonly #options: MirrorWriterOptions
  readonly #limit = new ConcurrencyLimit(CONCURRENCY)

  constructor(options: MirrorWriterOptions) {
    this.#options = options
  }

  /**
   * Executes as much as possible until `signal` is aborted: the next plan contains the rest. Deletions come first, so
   * that no command chooses a session that is gone.
   * @throws the first error that concerns more than one object, once the writes in flight have ended.
   */
  async write(type: ResourceType, { create, update, remove }: MirrorPlan, signal: AbortSignal): Promise<void> {
    await this.#each(remove, signal, async ({ metadata: { namespace, name, uid } }) => {
      await this.#options.kube.delete(type, { namespace, name }, { uid })
    })
    await this.#each(update, signal, (each) => this.#update(type, each))
    await this.#each(create, signal, (each) => this.#create(type, each))
  }

  async #create(type: ResourceType, { namespace, name, metadata, status }: MirrorCreate): Promise<void> {
    const { kube, record } = this.#options
    const key = { namespace, name }
    const body = {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: type.kind,
      metadata: { ...metadata, name, namespace },
    }
    const created = await kube.create(type, key, body)
    record(created)
    await this.#patch(type, created, { status }, 'status')
  }

  async #update(type: ResourceType, { object, metadata, status }: MirrorUpdate): Promise<void> {
    if (metadata !== undefined) await this.#patch(type, object, { metadata })
    if (status !== undefined) await this.#patch(type, object, { status }, 'status')
  }

  /** If the object was deleted meanwhile, the next list handles it. */
  async #patch(type: ResourceType, { metadata }: KubeObject, patch: Fields, subresource?: 'status'): Promise<void> {
    const { namespace, name, uid } = metadata
    const options = { uid, ...(subresource === undefined ? {} : { subresource }) }
    try {
      this.#options.record(await this.#options.kube.mergePatch(type, { namespace, name }, patch, options))
    } catch (error) {
      if (!(error instanceof KubeError && error.code === 'NotFound')) throw error
    }
  }

  async #each<T>(items: readonly T[], signal: AbortSignal, write: (item: T) => Promise<void>): Promise<void> {
    const left = items[Symbol.iterator]()
    let failed: { readonly error: unknown } | undefined
    const work = async (): Promise<void> => {
      for (let next = left.next(); !next.done; next = left.next()) {
        const release = await this.#limit.acquire()
        try {
          if (failed !== undefined || signal.aborted) return
          await write(next.value)
        } catch (error) {
          if (!(error instanceof KubeError && OF_ONE.has(error.code))) failed ??= { error }
          else this.#options.logger.warn({ err: error }, 'a mirrored object was not written')
        } finally {
          release()
        }
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    if (failed !== undefined) throw failed.error
  }
}
