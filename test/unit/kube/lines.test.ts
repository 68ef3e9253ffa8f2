import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitLines } from '../../../src/kube/streams.ts'

async function* chunked(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0
  for (const size of [...sizes, bytes.length]) {
    yield bytes.subarray(start, Math.min(bytes.length, start + size))
    start = Math.min(bytes.length, start + size)
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>, maxBytes = 1_000_000): Promise<string[]> {
  const lines: string[] = []
  for await (const line of splitLines(chunks, maxBytes)) lines.push(line)
  return lines
}

describe('splitLines', () => {
  test('gives the same lines however the bytes are cut, in the middle of a character too', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\n'))
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat({ max: 7 })), async (lines, sizes) => {
        const bytes = new TextEncoder().encode(lines.map((text) => `${text}\n`).join(''))
        expect(await collect(chunked(bytes, sizes))).toEqual(lines)
      }),
    )
  })

  test('drops a last line that never got its newline', async () => {
    expect(await collect(chunked(new TextEncoder().encode('whole\nhal'), [3]))).toEqual(['whole'])
  })

  test('refuses a line beyond the limit before its end arrives', async () => {
    const endless = async function* () {
      for (;;) yield new Uint8Array(64).fill(0x61)
    }
    await expect(collect(endless(), 1000)).rejects.toThrow(RangeError)
  })
})
