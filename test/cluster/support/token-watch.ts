import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import { EmulatorClient } from '../../builders/emulator-client.ts'
import type { Priority } from './priorities.ts'
import { openedBy, secretNamed } from './tokens.ts'
import type { World } from './world.ts'

/** Distinguishes the calls of tests from those of operators. */
const PROBE = 'probe='

/** A resource with a token, and how long each token must work after its replacement. */
export interface Watched extends Priority {
  readonly overlapMs: number
}

/** A client that uses the tokens of resources: it keeps reading each from its Secret and using it at once. */
export class TokenWatch implements AsyncDisposable {
  /** Uses that were refused although the token was in the Secret, or had been less than the overlap ago. */
  readonly failures: string[] = []
  readonly #world: World
  readonly #watched: readonly Watched[]
  readonly #stop = new AbortController()
  readonly #done: Promise<void>
  #uses = 0

  constructor(world: World, watched: readonly Watched[]) {
    this.#world = world
    this.#watched = watched
    this.#done = this.#work()
  }

  /** How often a token was used. */
  get uses(): number {
    return this.#uses
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  /** Uses the token of each resource once. @param when a word for the failures */
  async useAll(when: string): Promise<void> {
    for (const watched of this.#watched) await this.#use(watched, when)
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      for (const watched of this.#watched) {
        await this.#use(watched, 'at any time')
        await sleep(10)
      }
    }
  }

  async #use(watched: Watched, when: string): Promise<void> {
    const began = performance.now()
    const token = await this.#read(watched)
    const opened = token === undefined ? undefined : await opens(this.#world, watched.kind, token)
    this.#uses++
    if (opened !== undefined) return
    // A token replaced meanwhile must work for the overlap; a Secret without a token is always wrong.
    const isOver = performance.now() - began >= watched.overlapMs
    if (token !== undefined && isOver && (await this.#read(watched)) !== token) return
    this.failures.push(`${when}: ${watched.name} ${token === undefined ? 'has no token' : 'is refused'}`)
  }

  async #read({ name }: Watched): Promise<string | undefined> {
    const { data } = (await secretNamed(this.#world, name)) ?? {}
    return data?.token === undefined ? undefined : Buffer.from(data.token, 'base64').toString('utf8')
  }
}

/** Id of the token's object; undefined if it is refused. Others may call the API meanwhile. */
export async function opens(world: World, kind: string, token: string): Promise<string | undefined> {
  if (kind !== 'APIKey') return openedBy(world, kind, token)
  const query = `?limit=1&${PROBE}${randomBytes(8).toString('hex')}`
  const mark = world.mark()
  const { status } = await new EmulatorClient(world.emulator.url, token).get(`/bot_users${query}`)
  const entry = world.journal(mark).find((each) => each.query === query)
  return status === 200 ? (entry?.keyId ?? undefined) : undefined
}

/** Calls except the test's own checks of tokens. */
export function withoutProbes(journal: readonly JournalEntry[]): readonly JournalEntry[] {
  return journal.filter(({ query }) => !query.includes(PROBE))
}

/** When an object was created, at the earliest, and deleted, at the latest, by the journal's counter. */
export interface Life {
  readonly id: string
  readonly from: number
  readonly to: number
  /** Wall time of its create request. */
  readonly fromMs: number
  /** Wall time of its delete request. */
  readonly toMs: number | undefined
}

/** Every object created for the CR, by the marker in its create. */
export function livesOf(journal: readonly JournalEntry[], path: string, name: string): readonly Life[] {
  const ends = new Map(
    journal
      .filter(({ method, status }) => method === 'DELETE' && status === 204)
      .map((entry) => [entry.path.slice(path.length + 1), entry]),
  )
  const made = journal.filter((entry) => {
    const { metadata = '' } = (entry.body ?? {}) as { readonly metadata?: string }
    const isMade = entry.method === 'POST' && entry.path === path && entry.status === 201
    return isMade && /"name":"([^"]+)"/.exec(metadata)?.[1] === name
  })
  return made.map(({ seq, time, responseId }) => {
    const id = responseId ?? ''
    const end = ends.get(id)
    const to = end === undefined ? Number.POSITIVE_INFINITY : (end.answeredSeq ?? end.seq)
    return { id, from: seq, to, fromMs: Date.parse(time), toMs: end === undefined ? undefined : Date.parse(end.time) }
  })
}

/** The highest number of them at once. */
export function mostAtOnce(lives: readonly Life[]): number {
  return Math.max(0, ...lives.map(({ from }) => lives.filter((other) => other.from <= from && from < other.to).length))
}
