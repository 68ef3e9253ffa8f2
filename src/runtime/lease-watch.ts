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
  /** Time between the end of one watch and the next, in milliseconds. */
  readonly retryPeriodMs: number
  /** No one holds the Lease, or it was deleted. May be called repeatedly for the same state. */
  readonly onFree: () => void
}

/** The server ends the watch after this time. */
const WATCH_SECONDS = 300
/** How much longer a connection that died silently is kept. */
const GRACE_MS = 30_000

/**
 * Notifies a standby as soon as the Lease is released, before its next poll would show it. Only a hint: if a watch
 * fails, may not be opened or stays silent, polling still works. Resolves when `signal` is aborted.
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
      // Any state will do as a start: a late notification only costs a poll.
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
