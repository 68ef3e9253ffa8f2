import type { Socket } from 'node:net'
import type { Clock } from '../../../util/clock.ts'

/** What the first bytes of a connection say of something that may begin it. */
export type Beginning<T> =
  /** More bytes are needed. */
  | { readonly kind: 'incomplete' }
  /** It is something else; never changes with more bytes. */
  | { readonly kind: 'malformed' }
  /** `length` is the number of bytes that belong to it alone, and are not left to the next reader. */
  | { readonly kind: 'found'; readonly value: T; readonly length: number }

/** A client that did not begin as it has to. */
export class BadBeginning extends Error {
  readonly code = 'BAD_BEGINNING'
  override readonly name = 'BadBeginning'
}

export interface FirstBytesOptions<T> {
  readonly read: (bytes: Buffer) => Beginning<T>
  /** What the client has to do, as the end of `before it …`: `named a host`. */
  readonly deed: string
  /** What the client is said not to speak if it begins otherwise: `TLS`. */
  readonly language: string
  /** How long it may take, in milliseconds. */
  readonly ms: number
  readonly clock: Clock
}

/**
 * Reads the beginning of a connection. Bytes for the next reader are pushed back, and the socket is paused.
 *
 * @throws BadBeginning when it begins otherwise, the client leaves, or it takes too long
 */
export function readFirstBytes<T>(
  socket: Socket,
  { read, deed, language, ms, clock }: FirstBytesOptions<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0)
    const stop = (): void => {
      cancel()
      socket.pause()
      socket.off('data', add).off('end', ended).off('close', ended)
    }
    const fail = (reason: string): void => {
      stop()
      reject(new BadBeginning(reason))
    }
    const ended = (): void => fail(`the client left before it ${deed}`)
    const add = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      const beginning = read(bytes)
      if (beginning.kind === 'incomplete') return
      if (beginning.kind === 'malformed') {
        fail(`the client does not speak ${language}`)
        return
      }
      stop()
      if (bytes.length > beginning.length) socket.unshift(bytes.subarray(beginning.length))
      resolve(beginning.value)
    }
    const cancel = clock.setTimer(ms, () => fail(`the client had not ${deed} within ${ms} ms`))
    // The previous reader has paused it.
    socket.on('data', add).on('end', ended).on('close', ended).resume()
  })
}
