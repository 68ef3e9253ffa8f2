import { expect, it } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import { apiError, json } from '../../builders/http-server.ts'
import { clientFor, failure, serve } from './client-fixture.ts'

const { ipPolicies } = collections
/** How long the server takes for an answer. Milliseconds. */
const LATENCY_MS = 20

/** A server that answers every request with `status`, and the most requests that it had before it at once. */
async function server(status: number) {
  const seen = { now: 0, most: 0 }
  const { url } = await serve(({ path }, response) => {
    seen.now++
    seen.most = Math.max(seen.most, seen.now)
    setTimeout(() => {
      seen.now--
      if (status < 300) json(response, status, { id: path.split('/').at(-1) })
      else apiError(response, status, 'no')
    }, LATENCY_MS)
  })
  return { client: clientFor(url), seen }
}

it('sends more requests at once while the API answers them', async () => {
  const { client, seen } = await server(200)
  await Promise.all(Array.from({ length: 300 }, (_, index) => client.get(ipPolicies, `ipp_${index}`)))
  expect(seen.most).toBeGreaterThan(8)
})

it('sends no more at once than at first while the API fails', async () => {
  const { client, seen } = await server(503)
  await Promise.all(Array.from({ length: 40 }, () => failure(client.create(ipPolicies, {}))))
  expect(seen.most).toBeLessThanOrEqual(8)
})
