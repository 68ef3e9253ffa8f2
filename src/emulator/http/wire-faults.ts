import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Clock, sleep } from '../../util/clock.ts'
import type { FaultAct } from '../faults/fault-spec.ts'
import type { ActiveFault } from '../faults/faults.ts'
import { type ErrorName, errorBody } from '../values/request-error.ts'

/** The clock for the pauses of a fault, and the signal that ends them early. */
interface Pauses {
  readonly clock: Clock
  readonly stopping: AbortSignal
}

/**
 * What a fault does to a request whose body has not been read.
 *
 * @returns whether to continue with the request; otherwise it was answered or its connection cut here
 */
export async function actUnread(fault: ActiveFault, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { act } = fault
  switch (act.type) {
    case 'status': {
      if (act.when === 'after') return true
      fault.hit()
      const { type, text } = statusAnswer(act, request)
      await reply.code(act.status).headers(retryHeader(act)).type(type).send(text)
      return false
    }
    case 'drop':
      fault.hit()
      cutOff(request, reply)
      return false
    case 'delay':
    case 'hang':
    case 'stale-list':
    case 'commit-then-drop':
    case 'commit-then-late':
    case 'truncate':
    case 'answer-twice':
      return true
  }
}

/**
 * What a fault does before a request that has been read is processed.
 *
 * @returns whether to process it; otherwise its connection was cut here
 */
export async function actBefore(
  fault: ActiveFault,
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, stopping }: Pauses,
): Promise<boolean> {
  const { act } = fault
  switch (act.type) {
    case 'delay':
      fault.hit()
      await sleep(clock, act.ms, stopping)
      return true
    case 'hang':
      if (act.when === 'after') return true
      fault.hit()
      await fault.released
      if ((act.outlives || !(await hasGone(request.raw.socket))) && !stopping.aborted) return true
      cutOff(request, reply)
      return false
    case 'stale-list':
      fault.hit()
      return true
    case 'status':
    case 'drop':
    case 'commit-then-drop':
    case 'commit-then-late':
    case 'truncate':
    case 'answer-twice':
      return true
  }
}

/**
 * What a fault does to the answer of a processed request.
 *
 * @returns whether to send the answer as usual; otherwise the connection was handled here
 */
export async function actAfter(
  fault: ActiveFault,
  request: FastifyRequest,
  reply: FastifyReply,
  { text, clock, stopping }: Pauses & { readonly text: string },
): Promise<boolean> {
  const { act } = fault
  switch (act.type) {
    case 'commit-then-drop':
      fault.hit()
      request.raw.socket.destroy()
      return false
    case 'commit-then-late':
      fault.hit()
      return await heldBack(act.ms, request, { clock, stopping })
    case 'hang':
      if (act.when !== 'after') return true
      fault.hit()
      await fault.released
      return true
    case 'status': {
      if (act.when !== 'after') return true
      fault.hit()
      const answer = statusAnswer(act, request)
      reply.raw.writeHead(act.status, { ...headersOf(reply), ...retryHeader(act), ...contentHeaders(answer) })
      reply.raw.end(answer.text)
      return false
    }
    case 'truncate':
      fault.hit()
      truncate(request, reply, text)
      return false
    case 'answer-twice':
      fault.hit()
      reply.raw.once('finish', () => request.raw.socket.write(rawAnswer(reply, text)))
      return true
    case 'delay':
    case 'drop':
    case 'stale-list':
      return true
  }
}

/** Waits before an answer is sent. False when the emulator stops meanwhile: the answer is then never sent. */
async function heldBack(ms: number, request: FastifyRequest, { clock, stopping }: Pauses): Promise<boolean> {
  try {
    await sleep(clock, ms, stopping)
    return true
  } catch (error) {
    if (!stopping.aborted) throw error
    request.raw.socket.destroy()
    return false
  }
}

/**
 * Whether the caller has closed the connection. Waits for the event loop, so that a close that just arrived counts too.
 */
async function hasGone(socket: Socket): Promise<boolean> {
  await nextTurn()
  await nextTurn()
  return socket.destroyed || socket.readableEnded
}

function cutOff(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  request.raw.socket.destroy()
}

type StatusAct = Extract<FaultAct, { type: 'status' }>

interface StatusAnswer {
  readonly type: string
  readonly text: string
}

/** The answer of a `status` fault: its own HTML or JSON, else the API's error body. */
function statusAnswer(act: StatusAct, request: FastifyRequest): StatusAnswer {
  if (act.html !== undefined) return { type: 'text/html; charset=utf-8', text: act.html }
  const name = nameOfStatus(act.status)
  const usual = { ...errorBody(name, 'injected by a fault', request.id), status_code: act.status }
  return { type: 'application/json; charset=utf-8', text: JSON.stringify(act.body ?? usual) }
}

function retryHeader({ retryAfter }: StatusAct): Record<string, string> {
  return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
}

function contentHeaders({ type, text }: StatusAnswer): Record<string, string> {
  return { 'content-type': type, 'content-length': String(Buffer.byteLength(text)) }
}

function nameOfStatus(status: number): ErrorName {
  switch (status) {
    case 401:
      return 'unauthenticated'
    case 404:
      return 'notFound'
    case 429:
      return 'rateLimited'
    case 500:
      return 'internal'
    case 503:
      return 'unavailable'
    default:
      return 'injected'
  }
}

/** Announces the whole answer, sends half of its body, and closes the connection. */
function truncate(request: FastifyRequest, reply: FastifyReply, text: string): void {
  reply.raw.writeHead(reply.statusCode, { ...headersOf(reply), 'content-length': Buffer.byteLength(text) })
  const half = Buffer.from(text).subarray(0, Math.floor(Buffer.byteLength(text) / 2))
  reply.raw.write(half, () => request.raw.socket.destroy())
}

/** The bytes of the answer as sent, for a connection that carries it twice. */
function rawAnswer(reply: FastifyReply, text: string): string {
  const headers = { ...headersOf(reply), 'content-length': String(Buffer.byteLength(text)) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${reply.statusCode} ${reply.raw.statusMessage}\r\n${lines.join('')}\r\n${text}`
}

function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]))
}
