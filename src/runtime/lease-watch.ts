import type { KubeClient, ObjectKey } from '../kube/types.ts'
import { type Clock, sleep } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { jitter, type Random } from '../util/random.ts'
import { type Lease, leases } from './lease-lock.ts'

export interface LeaseWatchOptions {
  readonly client: Pick<KubeClient, 'watch'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly key: ObjectKey
  /** Between the end of one watch and the next, in milliseconds. */
  readonly retryPeriodMs: number
  /** Nobody holds the Lease, or it is gone. May be told again of the same. */
  readonly onFree: () => void
}

/** The server ends the watch after this time. */
const WATCH_SECONDS = 300
/** A connection that died without a word is given up so long after that. */
const GRACE_MS = 30_000

/**
 * Tells a process that stands by as soon as the Lease was given back, so that it need not find out at its next look. No more than a
 * hint: a watch that fails, may not be opened or says nothing leaves everything to the looks. Resolves when `signal` is aborted.
 */
export async function watchLease(options: LeaseWatchOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, logger, retryPeriodMs } = options
  while (!signal.aborted) {
    try {
      await follow(options, signal)
    } catch (error) {
      logger.debug({ err: error }, 'could not watch the lease')
    }
    await sleep(clock, jitter(random, retryPeriodMs, 0.1), signal).catch(() => undefined)
  }
}

async function follow({ client, clock, key, onFree }: LeaseWatchOptions, signal: AbortSignal): Promise<void> {
  const { namespace, name } = key
  const silent = new AbortController()
  const cancel = clock.setTimer(WATCH_SECONDS * 1000 + GRACE_MS, () => silent.abort())
  try {
    const frames = client.watch<Lease>(leases, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      // Any state will do to begin with: what is told too late costs a look.
      resourceVersion: '0',
      timeoutSeconds: WATCH_SECONDS,
      signal: AbortSignal.any([signal, silent.signal]),
    })
    for await (const frame of frames) {
      if (frame.type === 'bookmark') continue
      if (frame.type === 'deleted' || !frame.object.spec?.holderIdentity) onFree()
    }
  } finally {
    cancel()
  }
}
