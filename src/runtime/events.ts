import { context, ROOT_CONTEXT } from '@opentelemetry/api'
import { isPassing, KubeError } from '../kube/kube-error.ts'
import type { KubeClient, KubeObject, ResourceType } from '../kube/types.ts'
import { type Clock, sleep } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { printable } from '../util/printable.ts'
import type { Random } from '../util/random.ts'
import { microTime } from '../util/time.ts'

export const events: ResourceType = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
}

/** `reportingController` of every Event of an operator. */
export const EVENT_SOURCE = 'culvert.dev/operator'

/** Limits of events.k8s.io/v1, in bytes. */
const MAX_NOTE_BYTES = 1024
const MAX_REASON_BYTES = 128
const MAX_NAME_LENGTH = 253
/** Namespace in which the API server expects Events about cluster-scoped objects. */
const CLUSTER_SCOPE_NAMESPACE = 'default'

const REPEAT_AFTER_MS = 600_000
const MAX_REMEMBERED = 4096
const MAX_WAITING = 256

/**
 * Pauses, in milliseconds, before an Event that the server could not take is sent again; after the last it is dropped.
 */
const PAUSES_MS: readonly number[] = [500, 2000, 5000, 10_000]

export interface ObjectEventNote {
  readonly type: 'Normal' | 'Warning'
  /** Why, as one UpperCamelCase word for machines. */
  readonly reason: string
  /** What was done or tried, as one UpperCamelCase word. Default: the reason. */
  readonly action?: string
  /** For people; cut at 1 KiB. Never holds a secret. */
  readonly note: string
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Name of this process, for example the pod's. */
  readonly instance: string
}

interface Waiting {
  readonly namespace: string
  readonly name: string
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * Writes Events, for transitions only; the same text about the same object is written once in ten minutes. Events are
 * best effort: one that is refused (the namespace is being deleted), that the server could not take for some 17
 * seconds, or that comes while too many wait is logged at debug level and dropped. Warnings go before all others, and
 * take the place of one of these if too many wait: a thousand resources that are well must not hide one that is not.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  /** What was recorded → monotonic milliseconds, oldest first. */
  readonly #said = new Map<string, number>()
  readonly #waiting: Readonly<Record<ObjectEventNote['type'], Waiting[]>> = { Warning: [], Normal: [] }
  #sending: Promise<void> | undefined

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  /** Records `event` about `object`. Returns at once and never throws. */
  record(object: KubeObject, event: ObjectEventNote): void {
    if (!this.#isNews(object, event)) return
    const { Warning: warnings, Normal: normals } = this.#waiting
    if (warnings.length + normals.length >= MAX_WAITING) {
      const dropped = event.type === 'Warning' ? normals.pop() : undefined
      const reason = dropped?.body.reason ?? event.reason
      this.#options.logger.debug({ reason }, 'too many Events are pending, one was dropped')
      if (dropped === undefined) return
    }
    this.#waiting[event.type].push(this.#toWaiting(object, event))
    // Events of many resources are sent one after the other, so none belongs to the trace of the first one's caller.
    this.#sending ??= context.with(ROOT_CONTEXT, () => this.#send())
  }

  /**
   * Resolves when everything recorded so far was written or dropped, at the latest after `withinMs`, when the rest is
   * dropped: a stop does not wait for Events.
   */
  async flush(withinMs: number = Number.POSITIVE_INFINITY): Promise<void> {
    const over = Promise.withResolvers<void>()
    const cancel = this.#options.clock.setTimer(withinMs, () => {
      for (const waiting of Object.values(this.#waiting)) waiting.length = 0
      over.resolve()
    })
    try {
      await Promise.race([this.#sending, over.promise])
    } finally {
      cancel()
    }
  }

  async #send(): Promise<void> {
    const next = (): Waiting | undefined => this.#waiting.Warning.shift() ?? this.#waiting.Normal.shift()
    for (let event = next(); event !== undefined; event = next()) {
      try {
        await this.#write(event)
      } catch (error) {
        const { namespace, name } = event
        this.#options.logger.debug({ namespace, event: name, err: error }, 'an Event was not written')
      }
    }
    // In the same turn as the last check for waiting Events, so that one recorded afterwards is not left unsent.
    this.#sending = undefined
  }

  /**
   * A request whose outcome is unknown is sent again too: the name is the Event's own, so there is never a second one.
   */
  async #write({ namespace, name, body }: Waiting): Promise<void> {
    const { client, clock } = this.#options
    for (let attempt = 0; ; attempt++) {
      try {
        await client.create(events, { namespace, name }, body)
        return
      } catch (error) {
        if (attempt > 0 && error instanceof KubeError && error.code === 'AlreadyExists') return
        const pause = PAUSES_MS.at(attempt)
        if (pause === undefined || !(error instanceof KubeError && isPassing(error))) throw error
        await sleep(clock, pause)
      }
    }
  }

  #isNews(object: KubeObject, event: ObjectEventNote): boolean {
    const now = this.#options.clock.monotonic()
    const words = JSON.stringify([object.metadata.uid, event.type, event.reason, event.note])
    const last = this.#said.get(words)
    if (last !== undefined && now - last < REPEAT_AFTER_MS) return false
    this.#said.delete(words)
    this.#said.set(words, now)
    for (const [oldest, at] of this.#said) {
      if (this.#said.size <= MAX_REMEMBERED && now - at < REPEAT_AFTER_MS) break
      this.#said.delete(oldest)
    }
    return true
  }

  #toWaiting(object: KubeObject, event: ObjectEventNote): Waiting {
    const { clock, random, instance } = this.#options
    const { name, namespace, uid, resourceVersion } = object.metadata
    const suffix = `.${random.hex(8)}`
    const reason = cutBytes(event.reason, MAX_REASON_BYTES)
    return {
      namespace: namespace ?? CLUSTER_SCOPE_NAMESPACE,
      name: `${name.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[^a-z0-9]+$/, '')}${suffix}`,
      body: {
        eventTime: microTime(clock.now()),
        reportingController: EVENT_SOURCE,
        reportingInstance: cutBytes(instance, 128),
        type: event.type,
        reason,
        action: cutBytes(event.action ?? reason, 128),
        note: cutBytes(printable(event.note), MAX_NOTE_BYTES),
        regarding: {
          apiVersion: object.apiVersion,
          kind: object.kind,
          name,
          uid,
          resourceVersion,
          ...(namespace === undefined ? {} : { namespace }),
        },
      },
    }
  }
}

/** `text` cut to at most `limit` bytes of UTF-8, between characters, with an ellipsis if something was cut. */
export function cutBytes(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= limit) return text
  const ellipsis = '…'
  let end = limit - Buffer.byteLength(ellipsis)
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return new TextDecoder().decode(bytes.subarray(0, end)) + ellipsis
}
