/** A member of a tar archive: a file with content, or a symbolic link. */
export interface TarMember {
  readonly name: string
  readonly content?: string
  readonly linkTo?: string
}

const BLOCK = 512

/** An archive in the format ustar, also with names that no tar writes. Files are executable. */
export function tarOf(members: readonly TarMember[]): Buffer {
  return Buffer.concat([
    ...members.flatMap(({ name, content = '', linkTo = '' }) => [header(name, content, linkTo), padded(content)]),
    Buffer.alloc(2 * BLOCK),
  ])
}

function header(name: string, content: string, linkTo: string): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`
  block.write(name, 0)
  block.write(octal(0o755, 8) + octal(0, 8) + octal(0, 8) + octal(Buffer.byteLength(content), 12) + octal(0, 12), 100)
  block.write(linkTo === '' ? '0' : '2', 156)
  block.write(linkTo, 157)
  block.write('ustar\x0000', 257)
  // The checksum counts its own field as spaces.
  block.fill(' ', 148, 156)
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      7,
    )} `,
    148,
  )
  return block
}

function padded(content: string): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])
}
