import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Harm, HostileRequest } from './hostile-api.ts'

/** Part of every hostile body: no message or log may contain it. */
export const BODY_TEXT = 'words-of-the-hostile-body'

const HUNDRED_MEGABYTES = 100 * 1024 * 1024
/** Endless JSON. */
const CHUNK = Buffer.from(`{"id":"bkdtg_1","metadata":"${BODY_TEXT}${'x'.repeat(65_000)}"},`)

/** Any body, sent as is. */
export function text(body: string | Buffer, status?: number, headers: Record<string, string> = {}): Harm {
  return ({ method }, response) => {
    const usual = method === 'POST' ? 201 : 200
    response.writeHead(status ?? usual, { 'content-type': 'application/json', ...headers }).end(body)
  }
}

/** An object of the API in the form that was requested: alone, or as the only one of a list. */
export function object(members: string): Harm {
  return (request, response) =>
    text(isList(request) ? `{"backends":[{${members}}]}` : `{${members}}`)(request, response)
}

/** An answer of a hundred megabytes, sent as fast as it is read. */
export function huge(announced: boolean): Harm {
  return async (_, response) => {
    response.writeHead(200, announced ? { 'content-length': HUNDRED_MEGABYTES } : {})
    response.write('{"backends":[')
    for (let sent = 0; sent < HUNDRED_MEGABYTES && !response.destroyed; sent += CHUNK.length) {
      if (!response.write(CHUNK)) await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    response.end()
  }
}

/** A few hundred kilobytes that decompress to a hundred megabytes. */
const BOMB = gzipSync(Buffer.concat([Buffer.from('{"id":"'), Buffer.alloc(HUNDRED_MEGABYTES, 0x61), Buffer.from('"}')]))
export const gzipBomb: Harm = text(BOMB, undefined, { 'content-encoding': 'gzip' })

/** A body sent a byte at a time that never ends. */
export const slowBody: Harm = (_, response) => {
  response.writeHead(200).write('{')
  drip(response, () => response.write(' '))
}

/** Headers sent a byte at a time that never end. */
export const slowHeaders: Harm = (_, response) => {
  response.socket?.write('HTTP/1.1 200 OK\r\nx-header: ')
  drip(response, () => response.socket?.write('x'))
}

function drip(response: ServerResponse, write: () => void): void {
  const timer = setInterval(write, 250)
  response.socket?.once('close', () => clearInterval(timer))
}

/** Endless informational answers. */
export const informationalFlood: Harm = async (_, response) => {
  const { socket } = response
  if (socket === null) return
  const flood = 'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n'.repeat(200)
  while (!socket.destroyed) {
    if (!socket.write(flood)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The connection is reset in the middle of a body. */
export const resetInBody: Harm = (_, response) => {
  response.writeHead(200, { 'content-length': '1000' })
  response.write(`{"metadata":"${BODY_TEXT}`, () => response.socket?.resetAndDestroy())
}

/** The connection is closed instead of answered. */
export const closed: Harm = (_, response) => {
  response.socket?.end()
}

/** Bytes that are not HTTP. */
export const noHTTP: Harm = (_, response) => {
  response.socket?.end(`SSH-2.0-${BODY_TEXT}\r\n`)
}

/** Announces a persistent connection, and closes it. */
export const keptThenClosed: Harm = async ({ honest }, response) => {
  const { status, body } = await honest()
  const { socket } = response
  const head = `HTTP/1.1 ${status} OK\r\nconnection: keep-alive\r\nkeep-alive: timeout=60\r\ncontent-length: ${Buffer.byteLength(body)}`
  socket?.end(`${head}\r\n\r\n${body}`)
}

/** A redirect to `to`. */
export function redirect(status: number, to: string): Harm {
  return (_, response) => {
    response.writeHead(status, { location: to }).end(BODY_TEXT)
  }
}

/** An error with this `Retry-After` that repeats the key wherever possible. */
export function retryAfter(status: number, value: string): Harm {
  return ({ authorization }, response) => {
    const body = { error_code: 'ERR_1', status_code: status, msg: `no: ${authorization}` }
    const headers = { 'content-type': 'application/json', 'retry-after': value, 'operation-id': authorization }
    response.writeHead(status, headers).end(JSON.stringify(body))
  }
}

/** A list page with this `next_page_uri`; empty, or with an object that no other page has. */
export function page(
  next: (request: HostileRequest) => string,
  objects: 'none' | 'new' | 'large' | 'same' = 'none',
): Harm {
  return (request, response) => {
    const id = objects === 'same' ? 'bkdtg_1' : `bkdtg_${request.harmed}`
    const metadata = objects === 'large' ? 'x'.repeat(4_000_000) : 'x'
    const backends = objects === 'none' ? [] : [{ id, metadata }]
    return text(JSON.stringify({ backends, uri: BODY_TEXT, next_page_uri: next(request) }))(request, response)
  }
}

/** The honest answer with every field except the id of another type. */
export const wrongTypes: Harm = async ({ honest }, response) => {
  const { status, headers, body } = await honest()
  const twisted = JSON.stringify(JSON.parse(body), (key, value: unknown) => (key === 'id' ? value : twist(key, value)))
  response.writeHead(status, headers).end(twisted)
}

function twist(key: string, value: unknown): unknown {
  // The envelope of a list stays as it is: another case covers it.
  if (key === '' || /^\d+$/.test(key) || key === 'backends') return value
  if (typeof value === 'string') return { [BODY_TEXT]: 1 }
  if (value === null) return 5
  if (Array.isArray(value)) return { length: -1 }
  return typeof value === 'object' ? [null] : BODY_TEXT
}

/** The honest answer after members that try to change JavaScript's object prototypes. */
export const prototypeKeys: Harm = async ({ honest }, response) => {
  const { status, headers, body } = await honest()
  const keys =
    '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"hasOwnProperty":1,"toString":1,'
  response.writeHead(status, headers).end(body.replaceAll('{"', `{${keys}"`))
}

/** The honest answer with every member twice, the true value last, and a leading byte order mark. */
export const doubled: Harm = async ({ honest }, response) => {
  const { status, headers, body } = await honest()
  response.writeHead(status, headers).end(`\ufeff${body.replaceAll('{"id":', '{"id":"bkdtg_other","id":')}`)
}

export function isList({ method, path }: { readonly method: string; readonly path: string }): boolean {
  return method === 'GET' && !isOfObject({ method, path })
}

export function isOfObject({ path }: { readonly method: string; readonly path: string }): boolean {
  return /\/bkdtg_[^/?]+$/.test(path)
}
