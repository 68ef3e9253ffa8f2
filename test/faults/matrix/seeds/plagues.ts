import type { Random } from '../../../../src/util/random.ts'
import { seededRandom } from '../../../builders/seeded-random.ts'
import type { Fault, FrameFault, Sighting, Trouble, WireAnswer } from '../../simulation/faults.ts'
import { status } from '../../simulation/kube-server.ts'
import type { SimulatedProcess } from '../../simulation/process.ts'
import { isWrite, type SimulatedWorld } from '../../simulation/world.ts'
import { noRoute, notFound, tooManyRequests, unavailable } from '../kubernetes/refusals.ts'
import type { Step } from './story.ts'

type PlagueStep = Extract<Step, { readonly does: 'plague' }>

interface Active {
  readonly step: PlagueStep
  readonly until: number
  readonly random: Random
  /** How many more processes it may kill. */
  deaths: number
}

/** Processes whose watches have fallen silent. */
interface Deaf {
  readonly processes: ReadonlySet<SimulatedProcess>
  /** Watches opened later deliver everything. */
  readonly since: number
  readonly chance: number
  readonly random: Random
  readonly paths: Map<string, boolean>
}

/**
 * A request from an operator is carried out no later than this: the lifetime of a request, on which the promises
 * depend.
 */
const LATEST_MS = 3_900
/** An answer that comes after every timeout. */
const TOO_LATE_MS = 6_000
const MOST_DEATHS = 3
/** Shorter than the other replica needs to take over. */
const NAP_MS = 3_500

const FRAMES: readonly FrameFault[] = ['stall', 'reset', 'torn', 'gone', 'twice']

/** The faults that hit a story's requests. */
export class Plagues implements Trouble {
  readonly #world: SimulatedWorld
  #active: Active[] = []
  readonly #deaf: Deaf[] = []
  readonly #openedAt = new WeakMap<Sighting, number>()
  /** Whether a watch has stalled. */
  haveStalled: boolean = false

  constructor(world: SimulatedWorld) {
    this.#world = world
  }

  begin(step: PlagueStep): void {
    const until = this.#world.time.now + step.ms
    this.#active.push({ step, until, random: seededRandom(step.seed), deaths: MOST_DEATHS })
  }

  end(): void {
    this.#active = []
  }

  /** From now on the open watches of these processes stay silent, each with the step's chance. */
  deafen(processes: readonly SimulatedProcess[], { chance, seed }: { readonly chance: number; readonly seed: number }) {
    const since = this.#world.time.now
    this.#deaf.push({ processes: new Set(processes), since, chance, random: seededRandom(seed), paths: new Map() })
  }

  request(sighting: Sighting): Fault | undefined {
    if (sighting.query.has('watch')) this.#openedAt.set(sighting, this.#world.time.now)
    for (const active of this.#at(sighting)) {
      const fault = faultOf(active, sighting)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  frame(watch: Sighting): FrameFault | undefined {
    const fault = this.#frameFault(watch)
    if (fault === 'stall') this.haveStalled = true
    return fault
  }

  #isDeaf(watch: Sighting): boolean {
    const { process, path } = watch
    const openedAt = this.#openedAt.get(watch) ?? 0
    return this.#deaf.some(({ processes, since, chance, random, paths }) => {
      if (!processes.has(process) || openedAt > since || path.includes('/leases')) return false
      const at = `${process.name} ${path}`
      const isSilent = paths.get(at) ?? random.next() < chance
      paths.set(at, isSilent)
      return isSilent
    })
  }

  #frameFault(watch: Sighting): FrameFault | undefined {
    if (this.#isDeaf(watch)) return 'stall'
    for (const { step, random } of this.#at(watch)) {
      if (step.plague === 'cut off') return 'stall'
      if (step.plague === 'down') return 'reset'
      if (step.plague === 'watches' && random.next() < step.chance) return oneOf(random, FRAMES)
    }
    return undefined
  }

  #at({ server }: Sighting): readonly Active[] {
    if (this.#active.length === 0) return []
    this.#active = this.#active.filter(({ until }) => this.#world.time.now < until)
    return this.#active.filter(({ step }) => step.servers === 'both' || step.servers === server)
  }
}

function faultOf(active: Active, sighting: Sighting): Fault | undefined {
  const { step, random } = active
  const { plague, chance } = step
  if (plague === 'cut off') return { type: 'silence', when: 'before' }
  if (plague === 'down') return { type: 'reset', when: 'before' }
  if (plague === 'refused') {
    return { type: 'answer', when: 'before', answer: (chance < 0.3 ? tooManyRequests : unavailable)(sighting) }
  }
  if (plague === 'watches' && !sighting.query.has('continue')) return undefined
  if (random.next() >= chance) return undefined
  if (plague === 'watches') return { type: 'answer', when: 'before', answer: status(410, 'Expired', 'too old') }
  if (plague === 'lost') return lossOf(random, sighting)
  if (plague === 'busy') return { type: 'answer', when: 'before', answer: busy(random, sighting) }
  return plague === 'deadly' ? deathOf(active, sighting) : trouble(random, sighting)
}

/**
 * An API server never says of an existing object that it does not exist: for reads, such an answer comes from an
 * intermediary.
 */
function lossOf(random: Random, sighting: Sighting): Fault {
  const when = sighting.method === 'GET' ? 'before' : oneOf(random, ['before', 'after'] as const)
  const answer = sighting.method === 'GET' ? noRoute : oneOf(random, [noRoute, notFound])
  return { type: 'answer', when, answer: answer(sighting) }
}

function deathOf(active: Active, sighting: Sighting): Fault | undefined {
  const { random } = active
  if (!isWrite(sighting) || active.deaths === 0) return undefined
  active.deaths -= 1
  const when = oneOf(random, ['before', 'after'] as const)
  if (random.next() < 0.3) return { type: 'stop', when, ms: Math.ceil(random.next() * NAP_MS) }
  return { type: 'kill', when: random.next() < 0.3 ? 'answered' : when }
}

/** Any fault that may hit a request without breaking a promise. */
function trouble(random: Random, sighting: Sighting): Fault {
  const when = oneOf(random, ['before', 'after'] as const)
  const isWatch = sighting.query.has('watch')
  switch (oneOf(random, ['answer', 'reset', 'silence', 'late', 'slow', 'cut', 'twice'] as const)) {
    case 'answer':
      return { type: 'answer', when: isWatch ? 'before' : when, answer: broken(random, sighting) }
    case 'reset':
      return { type: 'reset', when }
    case 'silence':
      return { type: 'silence', when }
    case 'late':
      return { type: 'late', ms: Math.ceil(random.next() * LATEST_MS) }
    case 'slow':
      return { type: 'slow', when, ms: Math.ceil(random.next() * (when === 'before' ? LATEST_MS : TOO_LATE_MS)) }
    case 'cut':
      return { type: 'cut' }
    case 'twice':
      if (sighting.method !== 'POST') return { type: 'twice' }
      // Sending a create twice has a suite of its own: a copy may be left for a while.
      return sighting.server === 'api' ? { type: 'crossed' } : { type: 'cut' }
  }
}

function busy(random: Random, { server }: Sighting): WireAnswer {
  const answer =
    server === 'kubernetes'
      ? status(429, 'TooManyRequests', 'too many requests')
      : apiError(429, 'too many requests', 'ERR_9429')
  const seconds = Math.floor(random.next() * 20)
  if (seconds === 0) return answer
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } }
}

function broken(random: Random, { server }: Sighting): WireAnswer {
  const code = oneOf(random, [500, 502, 503, 504])
  if (code === 502) {
    return { status: 502, headers: { 'content-type': 'text/html' }, body: '<html><body>Bad Gateway</body></html>' }
  }
  if (server === 'kubernetes') return status(code, code === 503 ? 'ServiceUnavailable' : 'InternalError', 'broken')
  return apiError(code, 'broken', 'ERR_9500')
}

function apiError(code: number, msg: string, errorCode: string): WireAnswer {
  const body = JSON.stringify({ status_code: code, msg, error_code: errorCode, details: {} })
  return { status: code, headers: { 'content-type': 'application/json' }, body }
}

function oneOf<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random.next() * from.length)] as T
}
