import type { KubeObject } from '../../../../src/kube/types.ts'
import { type Interception, isWatch, type KubeProxy, type PassingRequest } from '../../../builders/kube-proxy.ts'
import type { OpenWatch, WatchedFrame } from '../../../builders/open-watch.ts'
import { until } from '../../../cluster/support/wait.ts'

/** A fault of watches while objects change. */
export interface WatchFault {
  readonly name: string
  /** Whether events during the fault are lost until the same object changes again. */
  readonly loses?: boolean
  /** Whether it lasts until everything is handled: the operator misses nothing, it only receives too much. */
  readonly lasts?: boolean
  /** Starts the fault before any change. */
  begin(watched: Watched): Trouble
}

/** The watches to disturb. */
export interface Watched {
  readonly proxy: KubeProxy
  /** Paths of the watched collections, each with the minimum number of frames for the changes. */
  readonly frames: ReadonlyMap<string, number>
  /** Every object of these collections before the changes, by uid. */
  readonly before: ReadonlyMap<string, KubeObject>
}

export interface Trouble {
  /** Resolves once every watch has met the fault; all changes have been made by then. Ends the fault. */
  end(): Promise<void>
}

/** The client retries a failing server on its own: more failures than its attempts. */
const FAILURES = 5

function watchesOf({ proxy, frames }: Watched): readonly OpenWatch[] {
  const watches = proxy.watches().filter(({ path }) => frames.has(path))
  if (watches.length !== frames.size) throw new Error(`${watches.length} of ${frames.size} collections are watched`)
  return watches
}

/** Holds back all frames; `missed` resolves once every watch has held back those of the changes. */
function stall(watched: Watched): { readonly watches: readonly OpenWatch[]; missed(): Promise<unknown> } {
  const watches = watchesOf(watched)
  for (const watch of watches) watch.stall()
  const missed = () => {
    return until('every watch has kept its frames back', () => {
      return watches.every(({ path, swallowed }) => swallowed >= (watched.frames.get(path) ?? 0))
    })
  }
  return { watches, missed }
}

/** Applies `act` to the first requests for each collection that match `meets`. */
function firstOfEach(
  { proxy, frames }: Watched,
  meets: (request: PassingRequest) => boolean,
  act: Parameters<KubeProxy['intercept']>[0],
): { readonly rule: Interception; met(): Promise<unknown> } {
  const counts = new Map([...frames.keys()].map((path) => [path, 0]))
  const rule = proxy.intercept((request) => {
    const count = counts.get(request.path)
    if (count === undefined || count >= FAILURES || request.method !== 'GET' || !meets(request)) return undefined
    counts.set(request.path, count + 1)
    return act(request)
  })
  const met = () => {
    const describe = () => [...counts]
    const all = () => [...counts.values()].every((count) => count === FAILURES)
    return until('every collection has met the fault', all, { timeoutMs: 90_000, describe })
  }
  return { rule, met }
}

/**
 * Replaces the frames of the changes, also for watches opened meanwhile. An operator that closes a watch because of
 * these frames has met the fault: it learns of the other changes from a list.
 */
function altered({ proxy, frames, ...watched }: Watched, alteration: (frame: WatchedFrame) => readonly WatchedFrame[]) {
  const watches = [...watchesOf({ proxy, frames, ...watched })]
  const alter = (watch: OpenWatch): void => {
    watch.alter((frame) => (frame.object.metadata?.uid === undefined ? [frame] : alteration(frame)))
  }
  for (const watch of watches) alter(watch)
  proxy.onWatch = (watch) => {
    if (!frames.has(watch.path)) return
    watches.push(watch)
    alter(watch)
  }
  const hasMet = (path: string, least: number): boolean => {
    const own = watches.filter((watch) => watch.path === path)
    return own.some((watch) => watch.altered >= least || (watch.altered > 0 && !watch.isOpen))
  }
  const wanting = () => [...frames].filter(([path, least]) => !hasMet(path, least)).map(([path]) => path)
  return {
    end: async () => {
      await until('every watch has told something else', () => wanting().length === 0, { describe: wanting })
      proxy.onWatch = () => undefined
      for (const watch of watches) watch.pass()
    },
  }
}

/** Faults that an operator recovers from however long its timeouts. */
export const watchFaults: readonly WatchFault[] = [
  {
    name: '410 by frame',
    begin: (watched) => {
      const { watches, missed } = stall(watched)
      return {
        end: async () => {
          await missed()
          for (const watch of watches) watch.expire()
        },
      }
    },
  },
  {
    name: '410 by status',
    begin: (watched) => {
      const { watches, missed } = stall(watched)
      return {
        end: async () => {
          await missed()
          // A watch from a list made since then is not refused.
          const old = new Set<string>()
          const rule = watched.proxy.intercept((request) => {
            if (!isWatch(request) || !watched.frames.has(request.path) || old.has(request.path)) return undefined
            old.add(request.path)
            return { type: 'answer', status: 410, reason: 'Expired' }
          })
          for (const watch of watches) watch.reset()
          await until('every watch was refused', () => old.size === watched.frames.size)
          rule.remove()
        },
      }
    },
  },
  {
    name: 'backwards resourceVersion',
    lasts: true,
    begin: (watched) => {
      const first = new Map<string, WatchedFrame['object']>(watched.before)
      return altered(watched, (frame) => {
        const { uid = '' } = frame.object.metadata ?? {}
        const known = first.get(uid)
        if (known === undefined) first.set(uid, frame.object)
        const old = known ?? frame.object
        const { apiVersion, kind } = frame.object as KubeObject
        const bookmark = { apiVersion, kind, metadata: { resourceVersion: old.metadata?.resourceVersion ?? '1' } }
        return [
          frame,
          { type: 'MODIFIED', object: { ...old, apiVersion, kind } },
          { type: 'BOOKMARK', object: bookmark },
        ]
      })
    },
  },
  { name: 'hidden frames', loses: true, begin: (watched) => altered(watched, () => []) },
  { name: 'duplicate frames', lasts: true, begin: (watched) => altered(watched, (frame) => [frame, frame]) },
  {
    name: 'reset',
    begin: (watched) => {
      const watches = watchesOf(watched)
      const { rule, met } = firstOfEach(watched, isWatch, () => ({ type: 'drop', when: 'before' }))
      for (const watch of watches) watch.reset()
      return {
        end: async () => {
          await met()
          rule.remove()
        },
      }
    },
  },
  {
    name: 'failing list',
    begin: (watched) => {
      const { watches, missed } = stall(watched)
      const failing = { type: 'answer', status: 500, reason: 'InternalError' } as const
      const { rule, met } = firstOfEach(
        watched,
        (request) => !isWatch(request),
        () => failing,
      )
      return {
        end: async () => {
          await missed()
          for (const watch of watches) watch.expire()
          await met()
          rule.remove()
        },
      }
    },
  },
]

/** Only recovered from if the operator considers a watch dead after a short time. */
export const silentStall: WatchFault = {
  name: 'silent stall',
  begin: (watched) => {
    const { watches, missed } = stall(watched)
    return {
      end: async () => {
        await missed()
        await until('the operator gave every one up', () => watches.every(({ isOpen }) => !isOpen))
      },
    }
  },
}
