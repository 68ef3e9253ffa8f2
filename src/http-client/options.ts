import type { Tracer } from '@opentelemetry/api'
import type { Clock } from '../util/clock.ts'
import type { Random } from '../util/random.ts'

/** What every client is made with. */
export interface HttpClientOptions {
  readonly clock: Clock
  readonly random: Random
  readonly userAgent: string
  /**
   * Called before a write's connection is opened, and again before its first byte is sent: throws an error `NotLeader`
   * when this process may not write.
   */
  readonly beforeWrite?: (() => void) | undefined
  /** Makes a span of each request that belongs to a reconcile. Default: no spans. */
  readonly tracer?: Tracer | undefined
}
