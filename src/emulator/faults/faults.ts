import type { Clock } from '../../util/clock.ts'
import type { ProvisioningFailure, ProvisioningFaults } from '../certificates/provisioning.ts'
import type { CertificateFaultSpec, FaultAct, FaultMatch, FaultSpec, RequestFaultSpec } from './fault-spec.ts'

/** A fault as the admin surface shows it. */
export interface FaultView {
  readonly id: string
  readonly spec: FaultSpec
  /** How many requests have matched so far, whether acted on or not. */
  readonly matches: number
  /** How often the fault has acted. An act after processing counts once the request is committed. */
  readonly hits: number
}

/** A fault that acts on one request. */
export interface ActiveFault {
  readonly id: string
  readonly act: FaultAct
  /** Records that the act took place. */
  readonly hit: () => void
  /** Resolves when the fault is released or deleted. */
  readonly released: Promise<void>
}

interface Fault {
  readonly id: string
  readonly spec: FaultSpec
  readonly release: () => void
  readonly released: Promise<void>
  matches: number
  hits: number
}

/** The faults in force. The first one set that acts on a request wins; each counts all its matches. */
export class Faults implements ProvisioningFaults {
  readonly #clock: Clock
  readonly #faults = new Map<string, Fault>()
  readonly #waiting = new Set<() => void>()
  #lastId = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(spec: FaultSpec): FaultView {
    this.#lastId += 1
    const { promise, resolve } = Promise.withResolvers<void>()
    const fault: Fault = { id: `fault_${this.#lastId}`, spec, release: resolve, released: promise, matches: 0, hits: 0 }
    this.#faults.set(fault.id, fault)
    return view(fault)
  }

  list(): FaultView[] {
    return [...this.#faults.values()].map(view)
  }

  get(id: string): FaultView | undefined {
    const fault = this.#faults.get(id)
    return fault === undefined ? undefined : view(fault)
  }

  /** Releases requests that hang on the fault; it stays in force but no longer holds any. */
  release(id: string): void {
    this.#faults.get(id)?.release()
  }

  /** Deletes a fault, which also releases it. Returns whether it existed. */
  delete(id: string): boolean {
    this.release(id)
    const existed = this.#faults.delete(id)
    this.#wake()
    return existed
  }

  clear(): void {
    for (const id of [...this.#faults.keys()]) this.delete(id)
  }

  /**
   * Resolves as soon as the fault has acted `hits` times, or after `timeoutMs`; undefined if it does not exist, or was
   * deleted.
   */
  async waitForHits(id: string, hits: number, timeoutMs: number): Promise<FaultView | undefined> {
    const expired = new AbortController()
    const cancel = this.#clock.setTimer(timeoutMs, () => expired.abort())
    try {
      for (let fault = this.#faults.get(id); fault !== undefined; fault = this.#faults.get(id)) {
        if (fault.hits >= hits || expired.signal.aborted) return view(fault)
        await this.#nextChange(expired.signal)
      }
      return undefined
    } finally {
      cancel()
    }
  }

  /** The fault that acts on this request, if any. Counts the match for every fault that it matches. */
  meet(method: string, path: string): ActiveFault | undefined {
    const acting: ActiveFault[] = []
    for (const fault of this.#faults.values()) {
      if (isCertificateFault(fault.spec) || !matches(fault.spec.match ?? {}, method, path)) continue
      fault.matches += 1
      if (isItsTurn(fault.spec, fault.matches)) acting.push(this.#active(fault, fault.spec.act))
    }
    return acting[0]
  }

  takeCertificateFault(domain: string): ProvisioningFailure | undefined {
    for (const fault of this.#faults.values()) {
      const { spec } = fault
      if (!isCertificateFault(spec) || (spec.domain !== undefined && spec.domain !== domain)) continue
      fault.matches += 1
      if (fault.hits >= (spec.times ?? 1)) continue
      this.#hit(fault)
      return { code: spec.errorCode ?? 'INTERNAL_ERROR', message: 'The certificate authority could not be reached.' }
    }
    return undefined
  }

  #active(fault: Fault, act: FaultAct): ActiveFault {
    return { id: fault.id, act, hit: () => this.#hit(fault), released: fault.released }
  }

  #hit(fault: Fault): void {
    fault.hits += 1
    this.#wake()
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener('abort', done)
    })
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done()
  }
}

function view(fault: Fault): FaultView {
  return { id: fault.id, spec: fault.spec, matches: fault.matches, hits: fault.hits }
}

function isCertificateFault(spec: FaultSpec): spec is CertificateFaultSpec {
  return 'type' in spec
}

function isItsTurn(spec: RequestFaultSpec, match: number): boolean {
  const { nth = 1, times = 1, every = false } = spec.match ?? {}
  return match >= nth && (every || match < nth + times)
}

function matches(match: FaultMatch, method: string, path: string): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== method) return false
  if (match.path !== undefined && !globToPattern(match.path).test(path)) return false
  return match.pathPattern === undefined || new RegExp(match.pathPattern).test(path)
}

function globToPattern(glob: string): RegExp {
  const parts = glob.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('')}$`)
}
