import { LANES, type Lane } from '../util/lane.ts'

/** How often a lane with work may be passed over in favour of more urgent ones before it is served once. */
const PATIENCE: Readonly<Record<Lane, number>> = { edit: 0, create: 4, poll: 4, drift: 8 }

export interface Entry {
  readonly key: string
  readonly lane: Lane
  /** Whose share the work counts against; '' is nobody's and is never held back. */
  readonly group: string
  /** Monotonic milliseconds when the key was first added. */
  readonly since: number
}

/**
 * The order in which queued keys are served: by lane, most urgent first, with a bound on how long a lesser lane waits;
 * within a lane, groups take turns; within a group, first come, first served.
 */
export class LaneQueue {
  readonly #entries = new Map<string, Entry>()
  /** Per lane, group → keys. The first group is the next to be served. */
  readonly #groups: Readonly<Record<Lane, Map<string, Set<string>>>> = {
    edit: new Map(),
    create: new Map(),
    poll: new Map(),
    drift: new Map(),
  }
  readonly #passedOver: Record<Lane, number> = { edit: 0, create: 0, poll: 0, drift: 0 }

  get size(): number {
    return this.#entries.size
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  entries(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** Adds a key, or moves it up when it is queued in a less urgent lane. The newest group counts. */
  add(entry: Entry): void {
    const queued = this.#entries.get(entry.key)
    if (queued === undefined) {
      this.#insert(entry)
      return
    }
    const lane = moreUrgent(queued.lane, entry.lane)
    if (lane === queued.lane && entry.group === queued.group) return
    this.#remove(queued)
    this.#insert({ ...entry, lane, since: queued.since })
  }

  /** Takes out the next key of a group that `mayRun`, past the one that is `held`; undefined when there is none. */
  take(mayRun: (group: string) => boolean, held?: string): Entry | undefined {
    const ready = LANES.flatMap((lane) => {
      const group = nextGroup(this.#groups[lane], mayRun, held)
      return group === undefined ? [] : [{ lane, group }]
    })
    const overdue = ready.findLast(({ lane }) => lane !== 'edit' && this.#passedOver[lane] >= PATIENCE[lane])
    const chosen = overdue ?? ready[0]
    if (chosen === undefined) return undefined
    for (const { lane } of ready) this.#passedOver[lane] = lane === chosen.lane ? 0 : this.#passedOver[lane] + 1
    return this.#takeFrom(chosen.lane, chosen.group, held)
  }

  clear(): void {
    this.#entries.clear()
    for (const lane of LANES) this.#groups[lane].clear()
  }

  #takeFrom(lane: Lane, group: string, held: string | undefined): Entry | undefined {
    const groups = this.#groups[lane]
    const keys = groups.get(group)
    const key = firstBut(held, keys)
    const entry = key === undefined ? undefined : this.#entries.get(key)
    if (keys === undefined || entry === undefined) return undefined
    this.#remove(entry)
    if (groups.delete(group) && keys.size > 0) groups.set(group, keys)
    return entry
  }

  #insert(entry: Entry): void {
    this.#entries.set(entry.key, entry)
    const groups = this.#groups[entry.lane]
    const keys = groups.get(entry.group)
    if (keys === undefined) groups.set(entry.group, new Set([entry.key]))
    else keys.add(entry.key)
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key)
    const groups = this.#groups[entry.lane]
    const keys = groups.get(entry.group)
    keys?.delete(entry.key)
    if (keys?.size === 0) groups.delete(entry.group)
  }
}

/** The more urgent of two lanes. */
export function moreUrgent(a: Lane, b: Lane): Lane {
  return LANES.indexOf(a) <= LANES.indexOf(b) ? a : b
}

function nextGroup(
  groups: ReadonlyMap<string, ReadonlySet<string>>,
  mayRun: (group: string) => boolean,
  held: string | undefined,
): string | undefined {
  for (const [group, keys] of groups) {
    if (firstBut(held, keys) !== undefined && mayRun(group)) return group
  }
  return undefined
}

function firstBut(held: string | undefined, keys: ReadonlySet<string> | undefined): string | undefined {
  for (const key of keys ?? []) {
    if (key !== held) return key
  }
  return undefined
}
