import { type Choices, DECIDED } from '../../../src/emulator/choices/choices.ts'
import {
  type HandedAnswer,
  type HandedRequest,
  type OpenEmulator,
  openEmulator,
} from '../../../src/emulator/emulator.ts'
import type { Clock } from '../../../src/util/clock.ts'
import type { Random } from '../../../src/util/random.ts'
import type { WireAnswer } from './faults.ts'
import type { SimulatedServer, WireRequest } from './network.ts'
import { API_HOST, OTHER_HOST } from './operator.ts'

/** The emulator's sources of time and randomness in a simulation. */
export interface Surroundings {
  readonly clock: Clock
  readonly random: Random
}

/**
 * The complete emulator as the server of consecutive simulations: opening it takes longer than most of them. Each
 * begins with an empty account.
 */
export class ApiServer implements SimulatedServer {
  readonly emulator: OpenEmulator
  readonly #current: { surroundings: Surroundings }
  /** The emulator's choices, changed in place. */
  readonly #choices: { -readonly [Name in keyof Choices]: Choices[Name] }
  /** Creation times of objects in monotonic time, by the last part of their paths. */
  readonly #madeAt = new Map<string, number>()
  /** Objects on a page of a list; undefined: the emulator's default. */
  pageSize: number | undefined

  private constructor(emulator: OpenEmulator, current: { surroundings: Surroundings }, choices: Choices) {
    this.emulator = emulator
    this.#current = current
    this.#choices = choices
  }

  static async open(surroundings: Surroundings): Promise<ApiServer> {
    const current = { surroundings }
    const clock: Clock = {
      now: () => current.surroundings.clock.now(),
      monotonic: () => current.surroundings.clock.monotonic(),
      setTimer: (ms, callback) => current.surroundings.clock.setTimer(ms, callback),
    }
    const random: Random = {
      next: () => current.surroundings.random.next(),
      hex: (bytes) => current.surroundings.random.hex(bytes),
    }
    const choices = { ...DECIDED }
    const emulator = await openEmulator(
      { clock, random, apiKey: KEY, admin: false, trustForwardedFor: true, choices },
      `https://${API_HOST}`,
    )
    return new ApiServer(emulator, current, choices)
  }

  /** Starts over in other surroundings. @param choices what to do where the contract leaves it open */
  reset(surroundings: Surroundings, choices: Choices = DECIDED): void {
    this.#current.surroundings = surroundings
    Object.assign(this.#choices, choices)
    this.pageSize = undefined
    this.#madeAt.clear()
    this.emulator.admin.reset()
  }

  answer(request: WireRequest): Promise<WireAnswer> {
    return this.#answered(request, (handed) => this.emulator.answer(handed))
  }

  /** The same in the one spelling that judges read, whatever the choices. */
  answerPlainly(request: WireRequest): Promise<WireAnswer> {
    return this.#answered(request, (handed) => this.emulator.answerPlainly(handed))
  }

  async #answered(request: WireRequest, hand: (request: HandedRequest) => Promise<HandedAnswer>): Promise<WireAnswer> {
    const { method, path, headers, body } = elsewhere(request)
    const answer = await hand({
      method: method as 'GET',
      path: this.#paged(method, path),
      headers: { ...(headers as Readonly<Record<string, string>>), host: API_HOST },
      body: body === '' ? undefined : body,
    })
    if (method === 'POST' && answer.status === 201) this.#recordCreated(answer.body)
    // Without a connection a request counts as plain HTTP: links in its answer are rewritten to the address it was sent
    // to.
    return { ...answer, body: answer.body.replaceAll(`http://${API_HOST}`, `https://${API_HOST}`) }
  }

  /** Answers a list with its state at that time, and anything else as usual. */
  async answerStale(request: WireRequest, seconds: number): Promise<WireAnswer> {
    const { admin } = this.emulator
    // Time does not pass while a server works, so no other request meets it.
    const { id } = admin.addFault({
      match: { method: request.method, every: true },
      act: { type: 'stale-list', seconds },
    })
    try {
      return await this.answer(request)
    } finally {
      admin.deleteFault(id)
    }
  }

  isForYounger({ method, path }: WireRequest, seconds: number): boolean {
    const { pathname } = new URL(path, `https://${API_HOST}`)
    const madeAt = this.#madeAt.get(pathname.split('/').at(-1) ?? '')
    if (method === 'POST' || madeAt === undefined) return false
    return this.#current.surroundings.clock.monotonic() - madeAt < seconds * 1000
  }

  #recordCreated(body: string): void {
    const { id } = JSON.parse(body) as { readonly id?: string }
    if (id !== undefined) this.#madeAt.set(id, this.#current.surroundings.clock.monotonic())
  }

  /** Sends a request as the administrator; no fault hits it. @throws Error for a refusal */
  async ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const { status, body: text } = await this.answerPlainly({
      method,
      path,
      headers: { ...headersOf(KEY), 'x-forwarded-for': ELSEWHERE },
      body: body === undefined ? '' : JSON.stringify(body),
    })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }

  /** Id of the APIKey's or TunnelCredential's object whose token this is. */
  async openedBy(kind: string, token: string): Promise<string | undefined> {
    const { admin } = this.emulator
    if (kind === 'APIKey') {
      const headers = headersOf(token)
      const { status } = await this.answerPlainly({ method: 'GET', path: '/ip_policies', headers, body: '' })
      return status === 200 ? (admin.journal().at(-1)?.keyId ?? undefined) : undefined
    }
    try {
      return admin.verifyCredential(token).id
    } catch {
      // Refused: it is not a key.
      return undefined
    }
  }

  #paged(method: string, path: string): string {
    if (this.pageSize === undefined || method !== 'GET' || path.includes('limit=')) return path
    return `${path}${path.includes('?') ? '&' : '?'}limit=${this.pageSize}`
  }
}

/** Another account of the same service, and its key. At another host, and below `/elsewhere`, every key opens it. */
export const OTHER_ACCOUNT = 'elsewhere'
export const OTHER_KEY = 'administrator-of-another-account'

function elsewhere(request: WireRequest): WireRequest {
  const prefix = `/${OTHER_ACCOUNT}`
  const isBelow = request.path.startsWith(`${prefix}/`)
  if (!isBelow && request.headers.host !== OTHER_HOST) return request
  const headers = { ...request.headers, authorization: `Bearer ${OTHER_KEY}` }
  return { ...request, path: isBelow ? request.path.slice(prefix.length) : request.path, headers }
}

/** The administrator's address; operators call from 127.0.0.1. */
export const ELSEWHERE = '203.0.113.7'

/** Token of the account's first key. */
export const KEY = 'administrator-of-the-account'

export function headersOf(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}`, 'service-version': '2', 'content-type': 'application/json' }
}
