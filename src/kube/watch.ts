import type { Echoes } from './echoes.ts'
import { errorFromCause, errorFromFrame } from './error-mapping.ts'
import { KubeError } from './errors.ts'
import { splitLines } from './lines.ts'
import type { KubeObject, WatchFrame } from './types.ts'

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
