import { Writable } from 'node:stream'

/** A stream that keeps what a command prints, and is no terminal. */
export class CapturedText extends Writable {
  #text = ''

  override _write(part: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.#text += String(part)
    done()
  }

  override toString(): string {
    return this.#text
  }
}
