import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import { createServer, type DetailedPeerCertificate, type SecureVersion, type TLSSocket } from 'node:tls'
import type { Clock } from '../../../util/clock.ts'
import { digestOf } from '../../fields/pem.ts'
import type { Credentials } from './authority.ts'
import { readClientHello } from './client-hello.ts'
import { type Beginning, readFirstBytes } from './first-bytes.ts'
import { TLS_VERSIONS, type TlsVersion } from './verdict.ts'

/** A client that did not complete what TLS demands of it. */
export class TlsFailure extends Error {
  readonly code = 'TLS_FAILURE'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TlsFailure'
  }
}

const NAMES: Readonly<Record<TlsVersion, SecureVersion>> = {
  '1.0': 'TLSv1',
  '1.1': 'TLSv1.1',
  '1.2': 'TLSv1.2',
  '1.3': 'TLSv1.3',
}

/** A fatal alert, as the answer to a ClientHello. */
const ALERTS = { unrecognizedName: 112, handshakeFailure: 40 } as const

/**
 * The host that the client names in its handshake; undefined when it names none. Nothing is consumed, and the socket is
 * paused.
 *
 * @throws BadBeginning when it is not TLS, the client ends, or it takes longer than `ms`
 */
export function readHost(socket: Socket, ms: number, clock: Clock): Promise<string | undefined> {
  return readFirstBytes(socket, { read: hostIn, deed: 'named a host', language: 'TLS', ms, clock })
}

function hostIn(bytes: Buffer): Beginning<string | undefined> {
  const hello = readClientHello(bytes)
  return hello.kind === 'hello' ? { kind: 'found', value: hello.host, length: 0 } : hello
}

export interface Termination {
  readonly credentials: Credentials
  readonly minVersion: TlsVersion
  /** Authorities in PEM, of which one must have issued the client's certificate; undefined: none is asked for. */
  readonly authorities: readonly string[] | undefined
  /** For the handshake, in milliseconds. */
  readonly ms: number
}

/**
 * Completes the handshake on a socket whose ClientHello is still unread.
 *
 * @throws TlsFailure when the client does not
 */
export function terminate(
  socket: Socket,
  { credentials, minVersion, authorities, ms }: Termination,
): Promise<TLSSocket> {
  // One for each connection: it takes a fraction of the handshake's time, and there is no cache to go stale.
  const server = createServer({
    ...credentials,
    minVersion: NAMES[minVersion],
    maxVersion: NAMES['1.3'],
    // OpenSSL refuses the old versions at its usual level.
    ...(minVersion < '1.2' ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {}),
    ...(authorities === undefined ? {} : { ca: [...authorities], requestCert: true, rejectUnauthorized: true }),
    handshakeTimeout: ms,
    // Each costs a handshake of the one thread that serves everyone; Node only reports when there are many.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  })
  return new Promise((resolve, reject) => {
    const fail = (error: Error | undefined): void => {
      const what =
        error === undefined ? 'the client left during the handshake' : `the handshake failed: ${error.message}`
      reject(new TlsFailure(what, error === undefined ? {} : { cause: error }))
    }
    server.once('secureConnection', resolve)
    server.once('tlsClientError', (error, client) => {
      client.destroy()
      fail(error)
    })
    socket.once('close', () => fail(undefined))
    server.emit('connection', socket)
  })
}

/** The version in use, as `min_version` has it. */
export function versionIn(socket: TLSSocket): TlsVersion | undefined {
  const protocol = socket.getProtocol()
  return TLS_VERSIONS.find((version) => NAMES[version] === protocol)
}

/**
 * Digests of those of the trusted certificates that vouch for the client's, from the one that issued it to its root.
 * Where the chain shows none, all of them: the client then has to prove itself again when one is no longer trusted.
 */
export function vouchersOf(socket: TLSSocket, trusted: ReadonlySet<string>): ReadonlySet<string> {
  const chain = new Set<string>()
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  while (certificate?.raw !== undefined) {
    const digest = digestOf(certificate.raw)
    // A root names itself as its issuer.
    if (chain.has(digest)) break
    chain.add(digest)
    certificate = certificate.issuerCertificate
  }
  const found = new Set([...chain].filter((digest) => trusted.has(digest)))
  return found.size === 0 ? trusted : found
}

/** Refuses a handshake with an alert that clients show. */
export function alert(socket: Socket, name: keyof typeof ALERTS): void {
  socket.end(Buffer.of(21, 3, 3, 0, 2, 2, ALERTS[name]), () => socket.destroy())
}
