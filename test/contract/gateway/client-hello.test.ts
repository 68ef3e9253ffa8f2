import { once } from 'node:events'
import { createServer } from 'node:net'
import { connect } from 'node:tls'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LONGEST_HELLO, readClientHello } from '../../../src/emulator/gateway/edges/client-hello.ts'

/** A field that begins with its length. */
function vector(lengthBytes: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  const length = Buffer.alloc(lengthBytes)
  length.writeUIntBE(bytes.length, 0, lengthBytes)
  return Buffer.concat([length, bytes])
}

const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff)

interface Extension {
  readonly type: number
  readonly content: Buffer
}

const serverName = (host: string): Extension => ({
  type: 0,
  content: vector(2, Buffer.of(0), vector(2, Buffer.from(host))),
})

/** The message of a ClientHello with these extensions; none if undefined. */
function hello(session: Buffer, suites: Buffer, extensions: readonly Extension[] | undefined): Buffer {
  const list = extensions?.map(({ type, content }) => Buffer.concat([u16(type), vector(2, content)]))
  const body = [
    u16(0x0303),
    Buffer.alloc(32, 7),
    vector(1, session),
    vector(2, suites),
    vector(1, Buffer.of(0)),
    ...(list === undefined ? [] : [vector(2, ...list)]),
  ]
  return Buffer.concat([Buffer.of(1), vector(3, ...body)])
}

/** The message in records of at most this size. */
function records(message: Buffer, size: number): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < message.length; at += size) {
    pieces.push(Buffer.concat([Buffer.of(22, 3, 1), vector(2, message.subarray(at, at + size))]))
  }
  return Buffer.concat(pieces)
}

const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))
const host = fc
  .array(fc.stringMatching(/^[a-zA-Z0-9]{1,10}$/), { minLength: 2, maxLength: 5 })
  .map((labels) => labels.join('.'))
/** Extensions whose content nobody reads. */
const other = fc.record({ type: fc.integer({ min: 1, max: 0xffff }), content: bytes(40) })

test('a hello names its host, however it is divided into records and whatever else it holds', () => {
  fc.assert(
    fc.property(
      fc.option(host, { nil: undefined }),
      fc.array(other, { maxLength: 4 }),
      fc.array(other, { maxLength: 4 }),
      bytes(32),
      bytes(60),
      fc.integer({ min: 1, max: 300 }),
      bytes(20),
      (name, before, after, session, suites, size, rest) => {
        const named = name === undefined ? [] : [serverName(name)]
        const sent = records(hello(session, suites, [...before, ...named, ...after]), size)
        const expected = { kind: 'hello', host: name?.toLowerCase() }
        expect(readClientHello(Buffer.concat([sent, rest]))).toEqual(expected)
        for (let length = 0; length < sent.length; length += 1) {
          expect(readClientHello(sent.subarray(0, length)).kind).toBe('incomplete')
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('a hello without extensions names no host', () => {
  const sent = records(hello(Buffer.alloc(0), u16(0x1301), undefined), 500)
  expect(readClientHello(sent)).toEqual({ kind: 'hello', host: undefined })
})

test('no bytes make it throw, and what is malformed stays so with more bytes', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        bytes(200),
        // A hello in which one byte is another.
        fc.tuple(host, fc.nat(), fc.nat(255)).map(([name, at, value]) => {
          const sent = records(hello(Buffer.alloc(8), u16(0x1301), [serverName(name)]), 60)
          sent[at % sent.length] = value
          return sent
        }),
      ),
      bytes(40),
      (sent, more) => {
        const found = readClientHello(sent)
        if (found.kind === 'incomplete') return
        expect(readClientHello(Buffer.concat([sent, more]))).toEqual(found)
      },
    ),
  )
})

test.each([
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
  ['SSH', Buffer.from('SSH-2.0-OpenSSH_10.0\r\n')],
  ['another handshake message', records(Buffer.concat([Buffer.of(2), vector(3, Buffer.alloc(4))]), 100)],
  ['an empty record', Buffer.of(22, 3, 1, 0, 0)],
  ['two names', records(hello(Buffer.of(), u16(1), [serverName('a.example'), serverName('b.example')]), 500)],
  ['a name with a NUL', records(hello(Buffer.of(), u16(1), [serverName('a\0.example')]), 500)],
  ['an empty name', records(hello(Buffer.of(), u16(1), [serverName('')]), 500)],
  ['a message that is too long', Buffer.from([22, 3, 1, 0, 10, 1, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0])],
])('%s is malformed', (_what, sent) => {
  expect(readClientHello(sent)).toEqual({ kind: 'malformed' })
})

test('it never asks for more than the longest hello', () => {
  const endless = records(Buffer.concat([Buffer.of(1, 0, 0xff, 0xff), Buffer.alloc(LONGEST_HELLO)]), 1000)
  expect(readClientHello(endless).kind).not.toBe('incomplete')
})

test("Node's own hello is read", async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const client = connect({ port, host: '127.0.0.1', servername: 'Shop.Example.com' }).on('error', () => undefined)
  const [socket] = await once(server, 'connection')
  const [sent] = await once(socket, 'data')
  expect(readClientHello(sent)).toEqual({ kind: 'hello', host: 'shop.example.com' })
  client.destroy()
  socket.destroy()
  server.close()
})
