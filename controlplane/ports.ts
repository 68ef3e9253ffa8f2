import { createServer } from 'node:net'
import { ControlPlaneError, systemErrorCode } from './errors.ts'

/**
 * Ports are chosen below the kernels' ephemeral ranges (32768 and up on Linux, 49152 and up elsewhere), so that no
 * process that asks for any free port gets one of ours while its server is down for a test.
 */
export const FIRST_PORT = 20_000
export const LAST_PORT = 29_999

const ATTEMPTS = 20

/** Inputs of the choice of a port. */
export interface PortChoice {
  /** A number from 0 inclusive to 1 exclusive. Default `Math.random`. */
  readonly random?: () => number
  /** Whether the port can be listened on now. Default: tries, on 127.0.0.1. */
  readonly isFree?: (port: number) => Promise<boolean>
}

/**
 * Starts a server on a free port: chooses one, calls `start`, and chooses another if the port was taken meanwhile
 * (`start` rejects with `PORT_TAKEN`). Any other error is thrown.
 *
 * @throws ControlPlaneError `PORT_TAKEN` after 20 attempts
 */
export async function startOnFreePort<T>(start: (port: number) => Promise<T>, choice: PortChoice = {}): Promise<T> {
  const random = choice.random ?? Math.random
  const isFree = choice.isFree ?? isPortFree
  let lastError: unknown
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST_PORT + Math.floor(random() * (LAST_PORT - FIRST_PORT + 1))
    if (!(await isFree(port))) continue
    try {
      return await start(port)
    } catch (error) {
      if (!(error instanceof ControlPlaneError) || error.code !== 'PORT_TAKEN') throw error
      lastError = error
    }
  }
  throw new ControlPlaneError('PORT_TAKEN', `No free port found between ${FIRST_PORT} and ${LAST_PORT}`, {
    cause: lastError,
  })
}

/** Whether a port can be listened on at 127.0.0.1 at this moment. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) => {
      if (systemErrorCode(error) === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
