import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ControlPlaneError } from '../../../controlplane/errors.ts'
import { FIRST_PORT, isPortFree, LAST_PORT, startOnFreePort } from '../../../controlplane/ports.ts'

const free = () => Promise.resolve(true)
const taken = () => new ControlPlaneError('PORT_TAKEN', 'taken')

/** Random numbers that choose these ports in sequence. */
function choosing(...ports: number[]): () => number {
  const left = [...ports]
  return () => ((left.shift() ?? FIRST_PORT) - FIRST_PORT + 0.5) / (LAST_PORT - FIRST_PORT + 1)
}

it('chooses below the ports that kernels hand out', async () => {
  const number = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  await fc.assert(
    fc.asyncProperty(number, async (chance) => {
      const port = await startOnFreePort(async (chosen) => chosen, { random: () => chance, isFree: free })
      expect(port).toBeGreaterThanOrEqual(FIRST_PORT)
      expect(port).toBeLessThanOrEqual(LAST_PORT)
    }),
  )
})

it('passes over a port that is in use', async () => {
  const port = await startOnFreePort(async (chosen) => chosen, {
    random: choosing(20_001, 20_002),
    isFree: async (candidate) => candidate !== 20_001,
  })
  expect(port).toBe(20_002)
})

it('tries another port when somebody took the first one in between', async () => {
  const tried: number[] = []
  const port = await startOnFreePort(
    async (chosen) => {
      tried.push(chosen)
      if (tried.length < 3) throw taken()
      return chosen
    },
    { random: choosing(20_001, 20_002, 20_003), isFree: free },
  )
  expect(tried).toEqual([20_001, 20_002, 20_003])
  expect(port).toBe(20_003)
})

it('does not try again after any other error', async () => {
  let attempts = 0
  const start = async (): Promise<never> => {
    attempts += 1
    throw new ControlPlaneError('START_FAILED', 'broken')
  }
  await expect(startOnFreePort(start, { isFree: free })).rejects.toMatchObject({ code: 'START_FAILED' })
  expect(attempts).toBe(1)
})

it('gives up when every port is taken', async () => {
  const start = (): Promise<never> => Promise.reject(taken())
  await expect(startOnFreePort(start, { isFree: free })).rejects.toMatchObject({
    code: 'PORT_TAKEN',
    cause: { code: 'PORT_TAKEN' },
  })
})

it('sees whether somebody listens on a port', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(await isPortFree(port)).toBe(false)
  server.close()
  await once(server, 'close')
  expect(await isPortFree(port)).toBe(true)
})
