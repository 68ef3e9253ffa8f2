import { PRIORITIES, type Priority } from '../util/priority.ts'

/** How often a priority with work may be passed over for more urgent ones before it is served once. */
const PATIENCE: Readonly<Record<Priority, number>> = { edit: 0, create: 4, poll: 4, drift: 8 }

export interface Entry {
  readonly key: string
  readonly priority: Priority
  /** The group whose share the work counts against; '' counts against none and is never held back. */
  readonly group: string
  /** Monotonic milliseconds when the key was first added. */
  readonly since: number
}

/**
 * The order in which queued keys are served: by priority, most urgent first, with a bound on how long a lower priority
 * waits; within a priority, groups take turns; within a group, first come, first served.
 */
export class PriorityQueue {
  readonly #entries = new Map<string, Entry>()
  /** Per priority, group → keys. The first group is the next to be served. */
  readonly #groups: Readonly<Record<Priority, Map<string, Set<string>>>> = {
    edit: new Map(),
    create: new Map(),
    poll: new Map(),
    drift: new Map(),
  }
  readonly #passedOver: Record<Priority, number> = { edit: 0, create: 0, poll: 0, drift: 0 }

  get size(): number {
    return this.#entries.size
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  entries(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** Adds a key, or moves it up if it is queued with a lower priority. The newest group counts. */
  add(entry: Entry): void {
    const queued = this.#entries.get(entry.key)
    if (queued === undefined) {
      this.#insert(entry)
      return
    }
    const priority = higherPriority(queued.priority, entry.priority)
    if (priority === queued.priority && entry.group === queued.group) return
    this.#remove(queued)
    this.#insert({ ...entry, priority, since: queued.since })
  }

  /**
   * Removes and returns the next key of a group that `mayRun`, skipping the key `held`; undefined when there is none.
   */
  take(mayRun: (group: string) => boolean, held?: string): Entry | undefined {
    const ready = PRIORITIES.flatMap((priority) => {
      const group = nextGroup(this.#groups[priority], mayRun, held)
      return group === undefined ? [] : [{ priority, group }]
    })
    const overdue = ready.findLast(
      ({ priority }) => priority !== 'edit' && this.#passedOver[priority] >= PATIENCE[priority],
    )
    const chosen = overdue ?? ready[0]
    if (chosen === undefined) return undefined
    for (const { priority } of ready)
      this.#passedOver[priority] = priority === chosen.priority ? 0 : this.#passedOver[priority] + 1
    return this.#takeFrom(chosen.priority, chosen.group, held)
  }

  clear(): void {
    this.#entries.clear()
    for (const priority of PRIORITIES) this.#groups[priority].clear()
  }

  #takeFrom(priority: Priority, group: string, held: string | undefined): Entry | undefined {
    const groups = this.#groups[priority]
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
    const groups = this.#groups[entry.priority]
    const keys = groups.get(entry.group)
    if (keys === undefined) groups.set(entry.group, new Set([entry.key]))
    else keys.add(entry.key)
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key)
    const groups = this.#groups[entry.priority]
    const keys = groups.get(entry.group)
    keys?.delete(entry.key)
    if (keys?.size === 0) groups.delete(entry.group)
  }
}

/** The more urgent of two priorities. */
export function higherPriority(a: Priority, b: Priority): Priority {
  return PRIORITIES.indexOf(a) <= PRIORITIES.indexOf(b) ? a : b
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
