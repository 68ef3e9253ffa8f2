import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { quantile } from '../quantile.ts'

/** Where a path begins. */
export interface Place {
  readonly address: string
  readonly port: number
}

/** What is measured of a path. */
export interface Figures {
  /** MiB a second. */
  readonly download: number
  readonly upload: number
  /** The same over all streams together. */
  readonly manyDownload: number
  readonly manyUpload: number
  /** Milliseconds for 100 bytes there and back on an open connection. */
  readonly requestP50: number
  readonly requestP99: number
  /** Milliseconds for the same with a connection of its own. */
  readonly connectP50: number
  readonly connectP99: number
}

/** How much is sent. */
export interface Amounts {
  readonly streams: number
  readonly MiB: number
  readonly requests: number
  readonly connects: number
}

const MIB = 1024 * 1024
const CHUNK = Buffer.alloc(64 * 1024, 'x')
const REQUEST = Buffer.alloc(100, 'r')

/** Measures a path once. */
export async function measure(place: Place, { streams, MiB, requests, connects }: Amounts): Promise<Figures> {
  const [requestP50, requestP99] = await requestTimes(place, requests)
  const [connectP50, connectP99] = await connectTimes(place, connects)
  return {
    download: await throughput(place, download, 1, MiB),
    upload: await throughput(place, upload, 1, MiB),
    manyDownload: await throughput(place, download, streams, MiB),
    manyUpload: await throughput(place, upload, streams, MiB),
    requestP50,
    requestP99,
    connectP50,
    connectP99,
  }
}

/** Opens connections that have carried a request, and then are silent. */
export async function openIdle(place: Place, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(20, count - sockets.length) }, async () => {
      const socket = await begin(place, 'e')
      await request(socket)
      return socket
    })
    sockets.push(...(await Promise.all(batch)))
  }
  return sockets
}

async function throughput(
  place: Place,
  carry: (place: Place, bytes: number) => Promise<void>,
  streams: number,
  MiB: number,
): Promise<number> {
  const bytes = Math.ceil((MiB * MIB) / streams)
  const start = performance.now()
  await Promise.all(Array.from({ length: streams }, () => carry(place, bytes)))
  return (bytes * streams) / MIB / ((performance.now() - start) / 1000)
}

async function download(place: Place, bytes: number): Promise<void> {
  const socket = await begin(place, 'd', bytes)
  let received = 0
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  await once(socket, 'close')
  if (received !== bytes) throw new Error(`${received} of ${bytes} bytes arrived`)
}

async function upload(place: Place, bytes: number): Promise<void> {
  const socket = await begin(place, 'u', bytes)
  const answered = once(socket, 'data')
  for (let left = bytes; left > 0; left -= CHUNK.length) {
    if (!socket.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)))) await once(socket, 'drain')
  }
  await answered
  socket.end()
  socket.resume()
  await once(socket, 'close')
}

async function requestTimes(place: Place, count: number): Promise<[number, number]> {
  const socket = await begin(place, 'e')
  for (let warm = 0; warm < count / 10; warm += 1) await request(socket)
  const times: number[] = []
  for (let sent = 0; sent < count; sent += 1) times.push(await timed(() => request(socket)))
  socket.destroy()
  return percentiles(times)
}

async function connectTimes(place: Place, count: number): Promise<[number, number]> {
  const times: number[] = []
  for (let sent = 0; sent < count; sent += 1) {
    const time = await timed(async () => {
      const socket = await begin(place, 'e')
      await request(socket)
      socket.destroy()
    })
    times.push(time)
  }
  return percentiles(times)
}

async function begin({ address, port }: Place, wanted: 'd' | 'e' | 'u', bytes = 0): Promise<Socket> {
  const socket = connect({ host: address, port, noDelay: true })
  await once(socket, 'connect')
  const header = Buffer.alloc(9, wanted)
  header.writeBigUInt64BE(BigInt(bytes), 1)
  socket.write(header)
  return socket
}

async function request(socket: Socket): Promise<void> {
  let missing = REQUEST.length
  socket.write(REQUEST)
  while (missing > 0) {
    const [chunk]: Buffer[] = await once(socket, 'data')
    missing -= chunk?.length ?? 0
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function percentiles(times: readonly number[]): [number, number] {
  return [quantile(times, 0.5), quantile(times, 0.99)]
}
