import type { Fault, FrameFault, ServerName, Sighting, Trouble, WireAnswer } from './faults.ts'
import type { SimulatedProcess } from './process.ts'
import type { VirtualTime } from './virtual-time.ts'
import { connectionReset, WatchStream } from './watch-stream.ts'

/** A request as a server receives it. */
export interface WireRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Partial<Record<string, string>>>
  readonly body: string
}

/**
 * A streaming answer: `follow` takes a callback for each line and one for the end; it returns a function that stops it.
 */
export interface WireStream {
  readonly follow: (line: (text: string) => void, end: () => void) => () => void
}

export interface SimulatedServer {
  answer(request: WireRequest): WireAnswer | WireStream | Promise<WireAnswer>
  /** The answer as of that many seconds ago; a server without it has no stale answers. */
  answerStale?(request: WireRequest, seconds: number): Promise<WireAnswer>
  /** Whether the request is for an object younger than that many seconds. */
  isForYounger?(request: WireRequest, seconds: number): boolean
}

/** The sender of a request: everything that comes back goes through it, in the process's own time. */
export interface Caller {
  answered(answer: WireAnswer, isCut: boolean): void
  began(): void
  line(text: string): void
  /** A piece of a line. */
  part(text: string): void
  ended(): void
  failed(error: Error): void
  /** Whether it has given up. */
  readonly hasGone: boolean
}

/** How long a request, and an answer, takes. Milliseconds. */
const THERE = 2
const BACK = 2

/** Carries requests from processes to servers, and applies faults. */
export class Network {
  /** Consulted for everything that passes. */
  trouble: Trouble = { request: () => undefined }
  /** Called for each request as it leaves a process, whatever its fault. */
  onSend: (sighting: Sighting) => void = () => undefined
  /** Called for each answer that arrives at its process. */
  onHeard: (sighting: Sighting, answer: WireAnswer) => void = () => undefined
  /** Called for each request that a server is about to handle. */
  onArrival: (sighting: Sighting) => void = () => undefined
  /** Called for each answer of a server before anything else happens. */
  onDone: (sighting: Sighting, answer: WireAnswer) => void | Promise<void> = () => undefined
  /** Unreachable servers, and until when. */
  readonly #downUntil = new Map<ServerName, number>()
  /**
   * How long a frame of a watch takes. Milliseconds. Long by default: a process then often acts on its state from
   * before its own write.
   */
  frameMs = 10
  readonly #time: VirtualTime
  readonly #servers: Readonly<Record<ServerName, SimulatedServer>>
  /** Each server's last answer that was no refusal. */
  readonly #last = new WeakMap<SimulatedProcess, Map<ServerName, WireAnswer>>()

  constructor(time: VirtualTime, servers: Readonly<Record<ServerName, SimulatedServer>>) {
    this.#time = time
    this.#servers = servers
  }

  /** For this long no arriving request gets through, including those in flight. */
  cutOff(server: ServerName, ms: number): void {
    this.#downUntil.set(server, this.#time.now + ms)
  }

  send(process: SimulatedProcess, server: ServerName, request: WireRequest, caller: Caller): void {
    if (!process.canSend) return
    const sighting = sightingOf(process, server, request)
    const fault = this.trouble.request(sighting)
    if (fault?.type === 'kill' && fault.when === 'before') {
      process.kill()
      return
    }
    this.onSend(sighting)
    // A request that was about to be sent when the process was paused leaves it when it resumes.
    const held = fault?.type === 'stop' && fault.when === 'before' ? fault.ms : 0
    if (held > 0) this.#stop(process, held)
    const slowness = fault?.type === 'slow' && fault.when === 'before' ? fault.ms : 0
    this.#time.setTimer(held + slowness + THERE, () => {
      void this.#time.hold(this.#arrive(sighting, request, caller, fault))
    })
  }

  async #arrive(sighting: Sighting, request: WireRequest, caller: Caller, fault: Fault | undefined): Promise<void> {
    if (this.#isCutOff(sighting.server)) {
      this.#reset(sighting.process, caller)
      return
    }
    if (fault === undefined || !(await this.#befallsBefore(sighting, request, caller, fault))) {
      this.onArrival(sighting)
      const first = await this.#work(sighting, request, fault)
      // A request repeated by an intermediary is not one of the process's own.
      const last = fault?.type === 'twice' ? await this.#work(sighting, request, fault) : first
      const answer = fault?.type === 'twice' && fault.gives === 'last' ? last : first
      if ('follow' in answer) this.#stream(sighting, answer, caller)
      else this.#befallsAfter(sighting, caller, answer, fault)
    }
  }

  #isCutOff(server: ServerName): boolean {
    return this.#time.now < (this.#downUntil.get(server) ?? 0)
  }

  /** Whether the request has ended here, before the server handled it. */
  async #befallsBefore(sighting: Sighting, request: WireRequest, caller: Caller, fault: Fault): Promise<boolean> {
    const { process } = sighting
    switch (fault.type) {
      case 'answer':
        if (fault.when === 'before') this.#answer(sighting, caller, fault.answer)
        return fault.when === 'before'
      case 'reset':
        if (fault.when === 'before') this.#reset(process, caller)
        return fault.when === 'before'
      case 'silence':
        return fault.when === 'before'
      case 'behind': {
        const isBehind = this.#servers[sighting.server].isForYounger?.(request, fault.seconds) ?? false
        if (isBehind) this.#answer(sighting, caller, fault.answer)
        return isBehind
      }
      case 'late':
        this.#time.setTimer(fault.ms, () => {
          if (this.#isCutOff(sighting.server)) return
          this.onArrival(sighting)
          void this.#time.hold(this.#work(sighting, request, fault))
        })
        this.#reset(process, caller)
        return true
      default:
        return false
    }
  }

  #befallsAfter(sighting: Sighting, caller: Caller, answer: WireAnswer, fault: Fault | undefined): void {
    const { process } = sighting
    switch (fault?.type) {
      case 'kill':
        if (fault.when === 'after') process.kill()
        else this.#answer(sighting, caller, answer, { thenKill: true })
        break
      case 'stop':
        if (fault.when === 'after') this.#stop(process, fault.ms)
        this.#answer(sighting, caller, answer)
        break
      case 'slow':
        this.#time.setTimer(fault.when === 'after' ? fault.ms : 0, () => this.#answer(sighting, caller, answer))
        break
      case 'reset':
        this.#reset(process, caller)
        break
      case 'silence':
        break
      case 'answer':
        this.#answer(sighting, caller, fault.answer)
        break
      case 'cut':
        this.#answer(sighting, caller, answer, { isCut: true })
        break
      case 'rewritten':
        this.#answer(sighting, caller, fault.by(answer))
        break
      case 'crossed':
        this.#answer(sighting, caller, this.#last.get(process)?.get(sighting.server) ?? answer)
        break
      default:
        this.#answer(sighting, caller, answer)
    }
  }

  async #work(sighting: Sighting, request: WireRequest, fault: Fault | undefined): Promise<WireAnswer | WireStream> {
    const server = this.#servers[sighting.server]
    const stale = fault?.type === 'stale' ? server.answerStale?.(request, fault.seconds) : undefined
    const answer = await (stale ?? server.answer(request))
    if (!('follow' in answer)) await this.onDone(sighting, answer)
    return answer
  }

  #stop(process: SimulatedProcess, ms: number): void {
    process.stop()
    this.#time.setTimer(ms, () => process.goOn())
  }

  #answer(
    sighting: Sighting,
    caller: Caller,
    answer: WireAnswer,
    { isCut = false, thenKill = false }: { readonly isCut?: boolean; readonly thenKill?: boolean } = {},
  ): void {
    const { process, server } = sighting
    if (answer.status < 300) this.#last.set(process, (this.#last.get(process) ?? new Map()).set(server, answer))
    this.#time.setTimer(BACK, () => {
      process.run(() => {
        if (thenKill) process.killSoon()
        if (caller.hasGone) return
        if (!isCut) this.onHeard(sighting, answer)
        caller.answered(answer, isCut)
      })
    })
  }

  #reset(process: SimulatedProcess, caller: Caller): void {
    this.#time.setTimer(BACK, () => process.run(() => caller.failed(connectionReset())))
  }

  #stream(watch: Sighting, stream: WireStream, caller: Caller): void {
    const { process } = watch
    const fault = (frame: string): FrameFault | undefined => this.trouble.frame?.(watch, frame)
    const { frameMs } = this
    new WatchStream({ time: this.#time, process, caller, frameMs, fault }, stream)
  }
}

function sightingOf(process: SimulatedProcess, server: ServerName, request: WireRequest): Sighting {
  const { method, path, headers, body } = request
  const { pathname, searchParams } = new URL(path, 'http://server')
  return { process, server, method, path: pathname, query: searchParams, headers, body }
}
