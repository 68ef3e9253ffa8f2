import { createServer, type Socket } from 'node:net'

/*
 * The service at the end of every path, in a process of its own. A connection begins with one byte that says what is
 * wanted: `e`, echo; `d`, a download, and `u`, an upload, of the bytes that follow as eight bytes. An upload is
 * answered with one byte.
 */

const CHUNK = Buffer.alloc(64 * 1024, 'x')
const HEADER = 9

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined)
  socket.once('readable', () => begin(socket))
})

function begin(socket: Socket): void {
  const header = socket.read(HEADER) as Buffer | null
  if (header === null) {
    socket.once('readable', () => begin(socket))
    return
  }
  const bytes = Number(header.readBigUInt64BE(1))
  const wanted = String.fromCharCode(header[0] ?? 0)
  if (wanted === 'd') send(socket, bytes)
  else if (wanted === 'u') receive(socket, bytes)
  else socket.pipe(socket)
}

function send(socket: Socket, bytes: number): void {
  let left = bytes
  const go = (): void => {
    while (left > 0) {
      const size = Math.min(left, CHUNK.length)
      left -= size
      if (!socket.write(CHUNK.subarray(0, size))) {
        socket.once('drain', go)
        return
      }
    }
    socket.end()
  }
  go()
}

function receive(socket: Socket, bytes: number): void {
  let left = bytes
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left <= 0) socket.end('.')
  })
}

server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
process.once('disconnect', () => process.exit())
