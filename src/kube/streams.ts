import type { Echoes } from './echoes.ts'
import { errorFromCause, errorFromFrame, KubeError } from './kube-error.ts'
import { type KubeRequest, objectPath, withQuery } from './request.ts'
import type { KubeObject, ObjectKey, ResourceType, WatchFrame } from './types.ts'

/** etcd holds at most 1.5 MiB per object; JSON with escapes stays well below this. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

interface RawFrame {
  readonly type?: unknown
  readonly object?: { readonly metadata?: { readonly resourceVersion?: unknown } } | null
}

/** How the lines of a watch become objects. */
export interface FrameReader<T extends KubeObject> {
  readonly normalise: (object: unknown) => T
  /** Absent for objects of which writes are not answered in the same form. */
  readonly echoes?: Echoes | undefined
}

/**
 * The frames of a watch's body. Ends when the server ends the watch or `signal` is aborted.
 *
 * @throws KubeError `Gone` for an expired resourceVersion, `Network` for a body that broke off, `Unexpected` for
 * anything that is not a frame.
 */
export async function* readFrames<T extends KubeObject>(
  call: string,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  { normalise, echoes }: FrameReader<T>,
): AsyncGenerator<WatchFrame<T>> {
  try {
    for await (const line of splitLines(body, MAX_LINE_BYTES)) {
      const echo = echoes?.shown(line)
      const frame: WatchFrame<T> =
        echo === undefined ? toFrame(call, parseFrame(call, line), normalise) : { type: 'modified', object: echo as T }
      if (echo === undefined && frame.type === 'modified') echoes?.note(line, frame.object)
      yield frame
    }
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof RangeError) throw new KubeError('Unexpected', `${call}: ${error.message}`, { cause: error })
    throw errorFromCause(call, error)
  }
}

function parseFrame(call: string, line: string): RawFrame {
  try {
    return JSON.parse(line) as RawFrame
  } catch {
    // Without the cause: a syntax error quotes the line, which may hold a Secret.
    throw new KubeError('Unexpected', `${call}: a watch frame is not JSON`)
  }
}

function toFrame<T extends KubeObject>(
  call: string,
  frame: RawFrame,
  normalise: (object: unknown) => T,
): WatchFrame<T> {
  switch (frame.type) {
    case 'ADDED':
      return { type: 'added', object: normalise(frame.object) }
    case 'MODIFIED':
      return { type: 'modified', object: normalise(frame.object) }
    case 'DELETED':
      return { type: 'deleted', object: normalise(frame.object) }
    case 'BOOKMARK': {
      const resourceVersion = frame.object?.metadata?.resourceVersion
      if (typeof resourceVersion === 'string') return { type: 'bookmark', resourceVersion }
      break
    }
    case 'ERROR':
      throw errorFromFrame(call, frame.object)
    default:
  }
  throw new KubeError('Unexpected', `${call}: unknown watch frame`)
}

const NEWLINE = 0x0a

/** Lines of logs are no longer than this. */
export const LINE_BYTES = 1024 * 1024

/**
 * Splits a byte stream into lines. Lines are joined as bytes before they are decoded, so that a character whose bytes
 * arrive in two chunks stays whole. Empty lines are skipped; a last line without a newline is incomplete and dropped.
 *
 * @throws RangeError once a line exceeds `maxBytes`.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE, start); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const length = pendingBytes + end - start
      if (length > maxBytes) throw tooLong(maxBytes)
      if (length > 0) yield Buffer.concat([...pending, chunk.subarray(start, end)], length).toString('utf8')
      pending = []
      pendingBytes = 0
      start = end + 1
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start))
      pendingBytes += chunk.length - start
    }
    if (pendingBytes > maxBytes) throw tooLong(maxBytes)
  }
}

function tooLong(maxBytes: number): RangeError {
  return new RangeError(`a line is longer than ${maxBytes} bytes`)
}

export const pods: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }

/** How much of a log is read. */
export interface LogOptions {
  /** Only what was written in the last so many seconds. */
  readonly sinceSeconds: number
  /** Only so many lines from the end. */
  readonly tailLines: number
  readonly signal?: AbortSignal | undefined
}

/** Reads what Pods wrote. */
export interface PodLogs {
  /** What a Pod's only container has written, line by line. @throws KubeError */
  podLog(pod: ObjectKey, options: LogOptions): AsyncIterable<string>
}

export async function* readPodLog(
  open: (request: KubeRequest) => Promise<AsyncIterable<Uint8Array>>,
  pod: ObjectKey,
  { sinceSeconds, tailLines, signal }: LogOptions,
): AsyncGenerator<string> {
  const body = await open({
    verb: 'get',
    method: 'GET',
    resource: pods.plural,
    subresource: 'log',
    path: withQuery(objectPath(pods, pod, 'log'), { sinceSeconds, tailLines }),
    // The log is text; an error is a Status in JSON.
    accept: 'text/plain, application/json',
    signal,
  })
  yield* splitLines(body, LINE_BYTES)
}
